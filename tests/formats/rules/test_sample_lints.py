"""The lints on texts of samples, in rows of every format that has them."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from corpora import CORPORA
from effort import examples
from harpia_formats import validate
from json_lines import jsonl, jsonl_rows
from known_formats import RULES, WRITABLE
from unchecked import convert

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")
FIXTURES = Path(__file__).parents[3] / "fixtures"

CODES = {code for code in RULES if code.startswith("V3")}
QUESTION = "Qual é a capital do Brasil, e de que ano é ela?"
#: Rules on rows of one vendor, of which clean records have none either.
OWN = {code for code, rule in RULES.items() if rule.lint and code[0] in "HNTK"}


def found_in(data: bytes, format_: str | None = None) -> list[tuple[str, str]]:
    """Return the code and the pointer of each finding of these rules."""
    report = validate(data, format=format_, lint=True, examples=0, max_problems=0)
    assert not report.failures
    return [
        (each.code, each.place.pointer)
        for each in report.problems
        if each.code in CODES
    ]


def nemo(prompt: str, reference: str, answer: str) -> dict[str, Any]:
    """Return an answer in NeMo's documented form."""
    question = {"prompt": prompt, "ideal_response": reference, "category": ""}
    return {"input": question, "response": answer, "llm_name": "m"}


@for_each_case(
    "row, expected",
    jsonl_rows(CASES / "findings.jsonl"),
)
def test_findings(row: Any, expected: list[list[str]]) -> None:
    """Each finding is at the text that it is about, in any format and dialect."""
    assert sorted(found_in(jsonl(row))) == sorted(map(tuple, expected))


CHAT = [{"role": "user", "content": "Who?"}]
CHOSEN = [{"role": "assistant", "content": "Ana"}]


@for_each_case(
    "format_, row, other, code",
    [
        (
            "record",
            {
                "prompt": "Who?",
                "outputs": [
                    {
                        "turns": [
                            *CHAT,
                            {**CHOSEN[0], "content": "429 Too Many Requests"},
                        ]
                    }
                ],
            },
            {"prompt": "Who?", "outputs": [{"text": "Ana"}]},
            "V302",
        ),
        (
            "openai-preference",
            {
                "input": {"messages": [{"role": "user", "content": " "}]},
                "preferred_output": CHOSEN,
                "non_preferred_output": CHOSEN,
            },
            {
                "input": {"messages": [*CHOSEN, *CHAT]},
                "preferred_output": CHOSEN,
                "non_preferred_output": CHOSEN,
            },
            "V306",
        ),
    ],
)
def test_messages_below_other_keys_are_read_in_long_files(
    format_: str, row: Any, other: Any, code: str
) -> None:
    """Rows that are decoded by type have the findings that each has by itself."""
    found = found_in(jsonl(*[row, other] * 20), format_)

    assert [each for each, _ in found].count(code) == 20


def _escaped(text: str) -> str:
    """Return a text as JSON with escapes for all marks and for the letter E."""
    plain = (each.isalnum() and each != "E" for each in text)
    return "".join(
        letter if is_plain else f"\\u{ord(letter):04X}"
        for letter, is_plain in zip(text, plain, strict=True)
    )


@for_each_case(
    "answer",
    [
        *("I ponder.</think>Lima", "thread 'main' panicked at a", "b'Lima'", "&amp;"),
        *("[object Object]!", "Error: x\n    at f (a.js:1:2)", "{question}"),
    ],
)
def test_escapes_do_not_matter(answer: str) -> None:
    """A text has the same findings however its JSON is written."""
    usual = json.dumps(answer)[1:-1]
    spellings = [usual, usual.replace("/", r"\/"), _escaped(answer)]
    rows = [
        f'{{"prompt": "{one if "question" in one else "Who?"}", '
        f'"outputs": [{{"text": "{one}"}}]}}'
        for one in spellings
    ]
    reports = [validate(row.encode(), format="record", lint=True) for row in rows]
    found = [[(each.code, each.message) for each in one.problems] for one in reports]

    assert found[0]
    assert found == [found[0]] * 3


def test_text_with_what_looks_like_an_escape_is_as_it_is() -> None:
    """A backslash is text where it is escaped, whatever follows it."""
    answer = r"\u003cthink> \/think>"
    row = {"prompt": "2 + 2?", "outputs": [{"text": answer}]}

    assert found_in(jsonl(row), "record") == []


def test_choices_carry_the_reference() -> None:
    """A reference among the choices is in the prompt for a reason."""
    row = {"prompt": "Rio or Brasília?", "references": ["Brasília"], "outputs": []}

    assert found_in(jsonl(row), "record") == [("V301", "/references/0")]
    assert found_in(jsonl({**row, "choices": ["Rio", "brasília"]}), "record") == []


@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(
    ("format_", "choices", "expected"),
    jsonl_rows(CASES / "repeated_choices.jsonl"),
)
def test_repeated_choices_are_found(
    format_: str, choices: list[str], expected: list[str], copies: int
) -> None:
    """A choice that is repeated is found in lists and in cells."""
    row = {"prompt": QUESTION, "choices": choices, "outputs": [], "references": ["x"]}
    data = jsonl(row) * copies
    if format_ == "csv":
        cell = json.dumps(choices).replace('"', '""')
        data = b"prompt,choices\n" + f'"{QUESTION}","{cell}"\n'.encode() * copies

    assert found_in(data, format_) == [("V310", each) for each in expected * copies]


@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(
    ("answer", "prompt", "reference", "is_found"),
    jsonl_rows(CASES / "words_for_no_value.jsonl"),
)
def test_word_for_no_value_is_an_answer_only_where_it_may_be(
    answer: str, prompt: str, reference: str, *, is_found: bool, copies: int
) -> None:
    """An answer such as "null" is found unless another text of the row has the word."""
    found = found_in(jsonl(nemo(prompt, reference, answer)) * copies)

    assert found == [("V311", "/response")] * is_found * copies


@pytest.mark.parametrize("score", [1, 1.0, True])
def test_empty_answer_that_is_right(score: Any) -> None:
    """An empty answer scored as right is found as that, and not as an empty one."""
    output = {"text": "", "scores": [{"metric": "em", "value": score}]}
    row = {"prompt": QUESTION, "outputs": [output]}

    assert found_in(jsonl(row), "record") == [("V304", "/outputs/0/text")]
    output["scores"][0]["value"] = 0  # type: ignore[index]  # a list of objects
    assert found_in(jsonl(row), "record") == [("V305", "/outputs/0/text")]


def test_rows_are_read_alike_by_type_and_without() -> None:
    """Many rows, which the typed decoder reads, have the findings of single ones."""
    texts = ["", "Brasília", "429 Too Many Requests", f"{QUESTION} Rio", "Rio</s>"]
    prompts = [QUESTION, "É brasília?", ""]
    rows = [nemo(one, "Brasília", other) for one in prompts for other in texts] * 20
    single = [code for row in rows for code, _ in found_in(jsonl(row))]

    # V301 comes last, where the whole file was read.
    found = [code for code, _ in found_in(jsonl(*rows))]
    assert sorted(found) == sorted(single)


@for_each_case("format_", WRITABLE)
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
    report = convert(jsonl(*rows), from_="record", to=format_, output=output)
    assert report.written
    found = validate(output.getvalue(), format=format_, lint=True).problems

    assert {each.code for each in found} & (CODES | OWN) == set()


CHAT_TEXTS = st.sampled_from(
    [
        *(
            "Rio",
            "capital",
            "",
            " ",
            "None",
            "x</s>",
            "[INST]",
            "429 Too Many Requests",
        ),
        *(QUESTION, f"{QUESTION} Rio.", "首都是哪里", "user"),
    ]
)


def chat(roles: tuple[str, ...], answers: int) -> st.SearchStrategy[dict[str, Any]]:
    """Return rows of Tencent with these roles, and so many answers of one model."""
    messages = [
        st.fixed_dictionaries({"role": st.just(role), "content": CHAT_TEXTS})
        for role in roles
    ]
    response = st.fixed_dictionaries(
        {"content": CHAT_TEXTS}, optional={"reasoning_content": CHAT_TEXTS}
    )
    responses = [response] * answers
    model = {
        "model_name": st.sampled_from(["m", "m", " m"]),
        "responses": st.tuples(*responses),
    }
    return st.fixed_dictionaries(
        {
            "messages": st.tuples(*messages),
            "model_outputs": st.tuples(st.fixed_dictionaries(model)),
        },
        optional={"ref_answer": CHAT_TEXTS},
    )


ROLES = ("system", "user", "assistant")
CHATS = st.one_of(
    st.lists(chat(("user",), 1), min_size=1, max_size=3),
    st.lists(chat(("user",), 2), min_size=1, max_size=3),
    st.lists(chat(ROLES, 1), min_size=1, max_size=3),
    st.lists(chat((*ROLES, "user"), 1), min_size=1, max_size=3),
    st.lists(st.one_of(chat(("user",), 1), chat(ROLES, 2)), min_size=1, max_size=3),
)


@examples(16)
@given(rows=CHATS)
def test_nested_texts_are_checked_alike_at_once(rows: list[dict[str, Any]]) -> None:
    """Chats whose texts are read as columns have the findings that each has alone."""
    codes = tuple(CODES - {"V301"})  # which is about the share of all rows

    def found(*given: dict[str, Any]) -> list[str]:
        report = validate(
            jsonl(*given), format="tencent-outputs", select=codes, examples=0, jobs=1
        )
        assert not report.failures
        return sorted(f"{each.code} {each.place.pointer}" for each in report.problems)

    alone = [text for row in rows for text in found(row)]
    assert found(*rows * 60) == sorted(alone * 60)


ERRORS = jsonl_rows(CASES / "api_errors.jsonl")
ANSWERS = jsonl_rows(CASES / "answers_about_errors.jsonl")


def record(
    prompt: str, reference: str, answer: str = "x", choices: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a record with one answer."""
    row = {"prompt": prompt, "references": [reference], "outputs": [{"text": answer}]}
    return {**row, "choices": [*choices]} if choices else row


def records_with(code: str, rows: list[dict[str, Any]]) -> list[int | None]:
    """Return the numbers of the records that a rule finds fault with."""
    report = validate(
        jsonl(*rows), format="record", select=[code], examples=0, max_problems=0
    )
    assert not report.failures
    return [each.place.record for each in report.problems]


def test_answers_that_are_errors_of_an_api_are_found() -> None:
    """The text, the JSON body and the page of an API's error are no answers.

    An answer that merely speaks of an error, or begins like one, is an answer.
    """
    rows = [record(QUESTION, "Brasília", answer) for answer in (*ERRORS, *ANSWERS)]

    assert records_with("V302", rows) == [*range(1, len(ERRORS) + 1)]


@for_each_case(
    "answer, prompt, reference",
    jsonl_rows(CASES / "errors_asked_for.jsonl"),
)
def test_error_that_is_asked_for(answer: str, prompt: str, reference: str) -> None:
    """A text that the prompt asks for, or that is expected, is an answer."""
    rows = [record(prompt, reference, answer), record("Why?", "Brasília", answer)]

    assert records_with("V302", rows) == [2]


@for_each_case(
    "reference, prompt",
    jsonl_rows(CASES / "leaks.jsonl"),
)
def test_reference_in_the_prompt(reference: str, prompt: str) -> None:
    """A reference is found as it is, and but for case, white space and marks."""
    assert records_with("V301", [record(prompt, reference)]) == [1]


@for_each_case(
    "reference, prompt, choices",
    jsonl_rows(CASES / "no_leaks.jsonl"),
)
def test_reference_that_is_in_the_prompt_by_chance(
    reference: str, prompt: str, choices: tuple[str, ...]
) -> None:
    """Short references, parts of words and what choices carry are no leaks."""
    assert records_with("V301", [record(prompt, reference, choices=choices)]) == []


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


FLAT = jsonl(
    {
        "prompt": "2+2?",
        "ideal_response": "4",
        "category": "",
        "llm_name": "",
        "actual_response": "429 Too Many Requests",
    }
)


@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(
    ("header", "row", "code", "pointer"),
    [
        (b"", FLAT, "V302", "/actual_response"),
        (
            b"",
            jsonl({"prompt": "", "ideal_response": "4", "category": ""}),
            "V306",
            "/prompt",
        ),
        (
            b"",
            jsonl({"id": "1", "input": "2+2?", "actual-output": ""}),
            "V305",
            "/actual-output",
        ),
        (b"system,prompt,answer\n", b"Be short.,2+2?,\n", "V307", "/answer"),
    ],
)
def test_rows_of_other_formats_are_checked(
    header: bytes, row: bytes, code: str, pointer: str, copies: int
) -> None:
    """Texts are found under the keys that a format or a dialect of it has for them."""
    assert found_in(header + row * copies) == [(code, pointer)] * copies


def test_outputs_that_may_be_null_are_checked_in_many_rows() -> None:
    """An answer is found in rows of which some have several answers, or none."""
    text = (FIXTURES / "eee@0.3.0" / "valid" / "runs.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    (row, *_) = [one for one in rows if one["interaction_type"] == "single_turn"]
    outputs = [["Rio", "São"], ["Rio"], ["429 Too Many Requests"]]
    data = jsonl(*({**row, "output": {"raw": raw}} for raw in outputs * 40))

    assert found_in(data).count(("V302", "/output/raw/0")) == 40


def test_turns_are_checked_in_many_rows() -> None:
    """The last answer is found in conversations of different lengths."""
    text = (FIXTURES / "eee@0.3.0" / "valid" / "runs.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    (row, *_) = [one for one in rows if one["interaction_type"] == "multi_turn"]
    turns = row["messages"]
    wrong = [*turns[:2], {**turns[2], "content": "429 Too Many Requests"}]
    data = jsonl(*({**row, "messages": one} for one in [turns, turns[:3], wrong] * 40))

    assert found_in(data).count(("V302", "/messages/2/content")) == 40
