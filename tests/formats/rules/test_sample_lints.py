"""The lints on texts of samples, in rows of every format that has them."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from corpora import CORPORA
from effort import examples
from harpia_formats import validate
from harpia_formats.formats.registry import (
    adapter_of,
    all_formats,
    all_rules,
    writable_formats,
)
from harpia_formats.formats.rules.sample_lints import sample_lints
from harpia_formats.formats.rules.sample_rules import SAMPLE_RULES as RULES
from unchecked import convert

CODES = {rule.code for rule in RULES}
#: The rule on texts that stand for no value, which leaves answers to the others.
NO_VALUE = "J210"
QUESTION = "Qual é a capital do Brasil, e de que ano é ela?"
#: Rules on rows of one vendor, of which clean records have none either.
OWN = {code for code, rule in all_rules().items() if rule.lint and code[0] in "HNTK"}


def found_in(data: bytes, format_: str | None = None) -> list[tuple[str, str]]:
    """Return the code and the pointer of each finding of these rules."""
    report = validate(data, format=format_, lint=True, examples=0, max_problems=0)
    assert not report.failures
    return [
        (each.code, each.place.pointer)
        for each in report.problems
        if each.code in CODES
    ]


def line(row: Any) -> bytes:
    """Return a row as a line."""
    return json.dumps(row).encode() + b"\n"


def nemo(prompt: str, reference: str, answer: str) -> dict[str, Any]:
    """Return an answer in NeMo's documented form."""
    question = {"prompt": prompt, "ideal_response": reference, "category": ""}
    return {"input": question, "response": answer, "llm_name": "m"}


@for_each_case(
    "row, expected",
    [
        (nemo(QUESTION, "Brasília", "Rio"), []),
        (
            nemo(f"{QUESTION} BRASÍLIA?", "Brasília", "Rio"),
            [("V301", "/input/ideal_response")],
        ),
        (nemo(QUESTION, "Brasília", "429 Too Many Requests"), [("V302", "/response")]),
        (nemo(QUESTION, "Brasília", " \n"), [("V305", "/response")]),
        (nemo("", "Brasília", "Rio"), [("V306", "/input/prompt")]),
        (nemo(QUESTION, " ", "Rio"), [("V307", "/input/ideal_response")]),
        (nemo(QUESTION, "Brasília", f"{QUESTION} Rio"), [("V308", "/response")]),
        (nemo(QUESTION, "Brasília", "Rio<|eot_id|>"), [("V309", "/response")]),
        (
            {**nemo(QUESTION, "Brasília", "Rio"), "finish_reason": "length"},
            [("V303", "/finish_reason")],
        ),
        (
            {
                "prompt": QUESTION,
                "ideal_response": "",
                "actual_response": "",
                "category": "",
            },
            [("V305", "/actual_response"), ("V307", "/ideal_response")],
        ),
        (
            {"input": QUESTION, "reference": "capital", "output": "</s>"},
            [("V301", "/reference"), ("V309", "/output")],
        ),
        (
            {
                "messages": [
                    {"role": "system", "content": ""},
                    {"role": "user", "content": f"{QUESTION} Brasília?"},
                    {"role": "assistant", "content": "Brasília"},
                ],
                "ref_answer": "brasília",
                "model_outputs": [
                    {
                        "model_name": "m",
                        "responses": [
                            {"content": "Rio", "finish_reason": "max_tokens"},
                            {"content": '{"error": {"message": "x", "code": 1}}'},
                        ],
                    }
                ],
            },
            [
                ("V301", "/ref_answer"),
                ("V302", "/model_outputs/0/responses/1/content"),
                ("V303", "/model_outputs/0/responses/0/finish_reason"),
            ],
        ),
        (
            {"conversation": [{"prompt": "É Brasília?", "response": "Brasília"}]},
            [("V301", "/conversation/0/response")],
        ),
        (
            {
                "conversation": [
                    {"prompt": "Rio?", "response": "Brasília"},
                    {"prompt": "Brasília?", "response": "Sim!"},
                ]
            },
            [],
        ),
        (
            {
                "id": "1",
                "input": QUESTION,
                "expected_output": ["x", ""],
                "actual_output": ["", "Rio"],
            },
            [("V305", "/actual_output/0"), ("V307", "/expected_output/1")],
        ),
    ],
)
def test_findings(row: Any, expected: list[tuple[str, str]]) -> None:
    """Each finding is at the text that it is about, in any format and dialect."""
    assert sorted(found_in(line(row))) == sorted(expected)


def test_choices_carry_the_reference() -> None:
    """A reference among the choices is in the prompt for a reason."""
    row = {"prompt": "Rio or Brasília?", "references": ["Brasília"], "outputs": []}

    assert found_in(line(row), "record") == [("V301", "/references/0")]
    assert found_in(line({**row, "choices": ["Rio", "brasília"]}), "record") == []


@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(
    ("format_", "choices", "expected"),
    [
        ("record", ["Rio", "Natal", "Rio"], ["/choices/2"]),
        ("record", ["Rio", "Natal", " Rio\n"], ["/choices/2"]),
        ("record", ["Rio", "rio", "RIO"], []),
        ("record", ["Rio"], []),
        ("record", ["x", "x"], []),
        ("csv", ["Rio", "Natal", "Rio"], ["/choices"]),
        ("csv", ["Rio", "Natal"], []),
    ],
)
def test_repeated_choices_are_found(
    format_: str, choices: list[str], expected: list[str], copies: int
) -> None:
    """A choice that is repeated is found in lists and in cells."""
    row = {"prompt": QUESTION, "choices": choices, "outputs": [], "references": ["x"]}
    data = line(row) * copies
    if format_ == "csv":
        cell = json.dumps(choices).replace('"', '""')
        data = b"prompt,choices\n" + f'"{QUESTION}","{cell}"\n'.encode() * copies

    assert found_in(data, format_) == [("V310", each) for each in expected * copies]


@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(
    ("answer", "prompt", "reference", "is_found"),
    [
        ("null", QUESTION, "Rio", True),
        (" None\n", QUESTION, "Rio", True),
        ("NaN", QUESTION, "Rio", True),
        ("undefined", QUESTION, "Rio", True),
        ("None.", QUESTION, "Rio", False),
        ("none", QUESTION, "Rio", False),
        ("None", QUESTION, "none of them", False),
        ("undefined", "Which type is undefined?", "it", False),
        ("null", QUESTION, "annulled", True),
    ],
)
def test_word_for_no_value_is_an_answer_only_where_it_may_be(
    answer: str, prompt: str, reference: str, *, is_found: bool, copies: int
) -> None:
    """An answer such as "null" is found unless another text of the row has the word."""
    found = found_in(line(nemo(prompt, reference, answer)) * copies)

    assert found == [("V311", "/response")] * is_found * copies


@pytest.mark.parametrize("score", [1, 1.0, True])
def test_empty_answer_that_is_right(score: Any) -> None:
    """An empty answer scored as right is found as that, and not as an empty one."""
    output = {"text": "", "scores": [{"metric": "em", "value": score}]}
    row = {"prompt": QUESTION, "outputs": [output]}

    assert found_in(line(row), "record") == [("V304", "/outputs/0/text")]
    output["scores"][0]["value"] = 0  # type: ignore[index]  # a list of objects
    assert found_in(line(row), "record") == [("V305", "/outputs/0/text")]


def test_rows_are_read_alike_by_type_and_without() -> None:
    """Many rows, which the typed decoder reads, have the findings of single ones."""
    texts = ["", "Brasília", "429 Too Many Requests", f"{QUESTION} Rio", "Rio</s>"]
    prompts = [QUESTION, "É brasília?", ""]
    rows = [nemo(one, "Brasília", other) for one in prompts for other in texts] * 20
    single = [code for row in rows for code, _ in found_in(line(row))]

    # V301 comes last, where the whole file was read.
    found = [code for code, _ in found_in(b"".join(map(line, rows)))]
    assert sorted(found) == sorted(single)


@for_each_case("format_", sorted(writable_formats()))
def test_clean_records_have_no_findings(format_: str) -> None:
    """Clean records in any format have no warning of these rules and the vendors'."""
    rows = [
        {
            "id": f"s{number}",
            "prompt": f"What is {number} plus {number}?",
            "references": [f"{2 * number} apples"],
            "category": "sums",
            "params": {"model": "org/m"},
            "outputs": [
                {
                    "model": "org/m",
                    "text": f"It is {2 * number}.",
                    "scores": [
                        {
                            "metric": "em",
                            "value": 0.0,
                            "is_correct": False,
                            "evaluation_id": "e/m/1",
                            "evaluation_name": "sums",
                        }
                    ],
                }
            ],
        }
        for number in range(1, 40)
    ]
    output = BytesIO()
    report = convert(
        b"".join(map(line, rows)), from_="record", to=format_, output=output
    )
    assert report.written
    found = validate(output.getvalue(), format=format_, lint=True).problems

    assert {each.code for each in found} & (CODES | OWN) == set()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "input prompt messages role content references response output text "
                "outputs scores value model_outputs responses conversation".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
@examples(20)
def test_any_value_is_decided(value: Any) -> None:
    """Rows that a schema refuses are checked, too, whatever they hold."""
    for format_ in all_formats().values():
        if format_.adapter:
            for dialect in format_.dialects:
                for lint in sample_lints(adapter_of(format_), dialect.name):
                    codes = {each.code for each in lint.remarks(value)}
                    assert codes <= {*CODES, NO_VALUE}


@pytest.mark.corpora
@for_each_case(
    "pattern, expected",
    [
        # The code to be examined is the target of the benchmark, too.
        ("eee/samples/*challenges*_samples.jsonl", ["V301"] * 2),
        ("eee/samples/conv_inspect_cyse2*_samples.jsonl", ["V301"]),
        ("eee/samples/conv_helm*_samples.jsonl", []),
        ("eee/samples/*arc*_samples.jsonl", []),
        # A small model repeats itself until the limit of tokens.
        ("eee/samples/*math*_samples.jsonl", ["V315"] * 8),
        ("eee/valid-*.jsonl", [*["V315"] * 8, *["V301"] * 3] * 2),
        ("harpia/tencent_*", []),
        ("harpia/lab_*", []),
    ],
)
def test_findings_on_real_records(pattern: str, expected: list[str]) -> None:
    """The findings on real records are those that were found by hand."""
    files = sorted(CORPORA.glob(pattern))
    found = [
        each.code
        for file in files
        for each in validate(file, lint=True, examples=0, max_problems=0).problems
        if each.code in CODES | OWN
    ]

    assert found == expected
