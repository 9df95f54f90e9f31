"""Lints of single rows of EvalEval: each fault is found, and clean rows have none."""

from typing import Any, NamedTuple

import pytest

from cases import for_each_case
from eee_rows import (
    CURRENT,
    GONE,
    KINDS,
    SEED,
    SHAPES,
    TAG,
    Row,
    changed,
    clean_row,
)
from effort import some_pairs
from harpia_formats import Report, validate
from json_lines import jsonl

SINGLE, MULTI, AGENTIC = KINDS
TURNS = (MULTI, AGENTIC)
OPEN = (SEED, TAG)
LISTS = (TAG, CURRENT)


class Fault(NamedTuple):
    """Changes that make clean rows break one rule."""

    code: str
    changes: dict[str, Any]
    kinds: tuple[str, ...] = KINDS
    shapes: tuple[str, ...] = SHAPES


def first(change: Any) -> Any:
    """Return a change of the first item, or of what is no list."""
    return lambda value: [change, *value[1:]] if isinstance(value, list) else change


def renamed(before: str, after: str) -> Any:
    """Return a change that renames a key of an object."""
    return lambda value: {
        after if key == before else key: member for key, member in value.items()
    }


STEP, TURN = "answer_attribution.0", "turns.2"
CALL = "turns.2.tool_calls.0"
LAST = "answer_attribution.-1.extracted_value"


def VALUE(text: str) -> dict[str, Any]:  # noqa: N802 - stands for changes
    """Return the changes after which `text` is the only extracted value."""
    return {
        "answer_attribution": lambda steps: [{**steps[-1], "extracted_value": text}]
    }


WRONG = {"evaluation.score": 0, "evaluation.is_correct": False}
RIGHT = {"evaluation.score": 1, "evaluation.is_correct": True}
FAULTS = (
    Fault("E101", {"schema_version": "banana"}),
    Fault("E101", {"schema_version": ""}),
    Fault("E101", {"schema_version": "0.3.0"}, shapes=OPEN),
    Fault("E101", {"schema_version": "instance_level_eval_0.2.1"}, shapes=OPEN),
    Fault("E101", {"schema_version": "0.2.0"}, shapes=(CURRENT,)),
    Fault("E101", {"schema_version": "v0.3.0"}),
    Fault("E102", {"model_id": "finch-3b"}),
    Fault("E102", {"model_id": ""}),
    Fault("E102", {"model_id": "finch/"}),
    Fault("E102", {"model_id": "/finch-3b"}),
    Fault("E102", {"model_id": "finch//3b"}),
    Fault("E102", {"model_id": "finch/ "}),
    Fault("E103", {"sample_hash": "0" * 64}),
    Fault("E103", {"sample_hash": lambda value: value[:32]}),
    Fault("E103", {"sample_hash": lambda value: value.upper()}),
    Fault("E103", {"sample_hash": ""}),
    Fault("E103", {"sample_hash": "not a hash"}),
    Fault("E103", {"input.raw": "another question?"}),
    Fault("E104", {"turns.1.turn_idx": 7}, TURNS),
    Fault("E104", {"turns.0.turn_idx": 1}, TURNS),
    Fault("E104", {"turns.3.turn_idx": 2}, TURNS),
    Fault("E105", {"turns.1.role": "human"}, TURNS),
    Fault("E105", {"turns.0.role": ""}, TURNS),
    Fault("E105", {"turns.0.role": "System"}, TURNS),
    Fault("E105", {"turns.0.role": "narrator"}, TURNS),
    Fault("E129", {"turns.0.role": "developer"}, TURNS),
    Fault("E129", {"turns.3.role": "function"}, (AGENTIC,)),
    Fault("E106", {"turns.3.tool_call_id": first("c9")}, (AGENTIC,)),
    Fault("E106", {"turns.5.tool_call_id": ["c9"]}, (AGENTIC,)),
    Fault("E106", {"turns.1.tool_call_id": ["c1"]}, (AGENTIC,)),
    Fault("E107", {"turns.3.tool_call_id": GONE}, (AGENTIC,)),
    Fault("E107", {"turns.3.tool_call_id": []}, (AGENTIC,)),
    Fault("E107", {"turns.4.tool_call_id": first("c1")}, (AGENTIC,)),
    Fault(
        "E107",
        {"turns.2.tool_calls.1.id": "c1", "turns.4.tool_call_id": first("c1")},
        (AGENTIC,),
    ),
    Fault("E108", {"interaction_type": "multi_turn"}, (AGENTIC,)),
    Fault("E108", {"interaction_type": "agentic"}, (MULTI,)),
    Fault("E108", {"turns": []}, TURNS),
    Fault("E108", {"turns.2.role": "system", "turns.3.role": "system"}, (MULTI,)),
    Fault("E109", {"evaluation.num_turns": GONE}, TURNS),
    Fault("E109", {"evaluation.num_turns": 2}),
    Fault("E109", {"evaluation.num_turns": None}, TURNS, (CURRENT,)),
    Fault("E110", {"evaluation.tool_calls_count": 1}),
    Fault("E110", {"evaluation.tool_calls_count": 0}, (AGENTIC,)),
    Fault("E111", {"answer_attribution": []}),
    Fault("E112", {f"{STEP}.is_terminal": False}),
    Fault("E112", {"answer_attribution": lambda steps: [*steps, *steps]}),
    Fault(
        "E112",
        {
            "answer_attribution": lambda steps: [
                *steps,
                {**steps[0], "is_terminal": False},
            ]
        },
    ),
    Fault("E113", {f"{STEP}.turn_idx": 9}),
    Fault("E113", {f"{STEP}.turn_idx": 1}),
    Fault("E113", {f"{STEP}.turn_idx": 0}, TURNS),
    Fault("E114", {f"{STEP}.source": ""}),
    Fault("E114", {f"{STEP}.source": "response"}),
    Fault("E114", {f"{STEP}.source": "output.raws"}),
    Fault("E114", {f"{STEP}.source": "output.reasoning_trace"}),
    Fault("E114", {f"{STEP}.source": "interactions[1].content"}),
    Fault("E114", {f"{STEP}.source": "messages[9].content"}),
    Fault("E114", {f"{STEP}.source": "output.raw"}, TURNS),
    Fault("E114", {f"{STEP}.source": "interactions[4].content"}, shapes=(CURRENT,)),
    Fault("E114", {f"{STEP}.source": "messages[4].content"}, shapes=OPEN),
    Fault("E115", {f"{STEP}.extracted_value": "forty-two"}),
    Fault("E115", {f"{STEP}.extracted_value": "4 2"}),
    Fault("E115", {"output.raw": first("42 left"), **VALUE("4 2")}, (SINGLE,)),
    Fault("E115", {"output.raw": first("pi is 3.142"), **VALUE("3142")}, (SINGLE,)),
    Fault("E115", {"output.raw": first("1,2 or 3,50"), **VALUE("12")}, (SINGLE,)),
    Fault("E115", {"output.raw": first("1,234"), **VALUE("1235")}, (SINGLE,)),
    Fault("E115", {"output.raw": first("new york"), **VALUE("newyork")}, (SINGLE,)),
    Fault("E116", {"evaluation.score": 0, "evaluation.is_correct": True}),
    Fault("E116", {"evaluation.score": 1.0, "evaluation.is_correct": False}),
    Fault(
        "E116",
        {"evaluation.score": True, "evaluation.is_correct": False},
        shapes=OPEN,
    ),
    Fault("E117", {"evaluation.score": 0.5, "evaluation.is_correct": True}),
    Fault("E117", {"evaluation.score": 0.999, "evaluation.is_correct": True}),
    Fault("E118", {"token_usage.total_tokens": 1}),
    Fault("E118", {"token_usage.reasoning_tokens": 5000}),
    Fault("E118", {"token_usage.input_tokens_cache_read": 5000}),
    Fault("E119", {"performance.generation_time_ms": 1000}),
    Fault("E119", {"performance.time_to_first_token_ms": 901}),
    Fault("E119", {"performance.latency_ms": 0}),
    Fault("E119", {"performance": {"latency_ms": 99, "generation_time_ms": 100}}),
    Fault("E119", {"performance": {"latency_ms": 99.2, "generation_time_ms": 99.4}}),
    Fault("E120", {"error": ""}),
    Fault(
        "E120",
        {"error": "timed out", "evaluation.score": 1, "evaluation.is_correct": True},
    ),
    Fault("E121", {"input.choices": []}),
    Fault("E121", {"input.choices": ["a plum", "a pear"]}),
    Fault("E122", {"evaluation_id": ""}),
    Fault("E122", {"evaluation_name": ""}),
    Fault("E122", {"sample_id": ""}),
    Fault("E122", {"evaluation_result_id": ""}),
    Fault("E122", {"input.raw": "", "sample_hash": GONE}),
    Fault("E122", {"input.raw": " \n", "sample_hash": GONE}),
    Fault("E122", {"input.reference": first(""), "sample_hash": GONE}),
    Fault("E122", {"input.formatted": ""}),
    Fault("E122", {f"{STEP}.extraction_method": ""}),
    Fault("E122", {LAST: "", **RIGHT}),
    Fault("E122", {"input.reference": " ", "sample_hash": GONE}, shapes=(SEED,)),
    Fault("E122", {f"{CALL}.name": ""}, (AGENTIC,)),
    Fault("E122", {"turns.1.content": ""}, TURNS),
    Fault("E124", {"metrics": 5}, shapes=OPEN),
    Fault("E124", {"metrics": {"num_turns": 5}}, shapes=OPEN),
    Fault("E125", {"sample_idx": 3}, shapes=OPEN),
    Fault("E125", {"messages": []}, shapes=OPEN),
    Fault("E125", {"output.raw_runs": ["x"]}, (SINGLE,)),
    Fault("E125", {"evaluation.details": {}}),
    Fault("E125", {"evaluation": renamed("num_turns", "num_turn")}, (SINGLE,)),
    Fault("E125", {"input": renamed("choices", "choises")}),
    Fault("E125", {"token_usage.cached_tokens": 1}),
    Fault("E125", {"performance.retries": 1}),
    Fault("E125", {f"{TURN}.name": "bot"}, TURNS),
    Fault("E125", {f"{CALL}.type": "function"}, (AGENTIC,)),
    Fault("E125", {f"{STEP}.confidence": 1}),
    Fault("E128", {"sample_id": 3.0}, shapes=OPEN),
    Fault("E128", {"turns.0.turn_idx": 0.0}, TURNS),
    Fault("E128", {f"{STEP}.turn_idx": float}),
    Fault("E128", {"token_usage.total_tokens": float}),
    Fault("E128", {"evaluation.num_turns": float}),
    Fault("E128", {"evaluation.tool_calls_count": float}),
    # What a schema or a rule of all formats says.
    Fault("S102", {"evaluation_result_id": None}, shapes=(CURRENT,)),
    Fault("S102", {"metadata": None}, shapes=OPEN),
    Fault("S102", {"input.choices": None}, shapes=OPEN),
    Fault("S102", {"metadata.level": 3}, shapes=(CURRENT,)),
    Fault("S102", {"performance.additional_details": {"a": 1}}, shapes=(CURRENT,)),
    Fault("S102", {f"{CALL}.arguments": {"left": 3}}, (AGENTIC,), (CURRENT,)),
    Fault("S104", {"metrics": 5}, shapes=(CURRENT,)),
    Fault("S104", {"interactions": None}, shapes=(CURRENT,)),
)
CASES = [
    (fault, shape, kind)
    for fault in FAULTS
    for shape, kind in some_pairs(fault.shapes, fault.kinds)
]


def report_on(shape: str, *rows: Row) -> Report:
    """Return the report on rows, with lints, validated as of one shape."""
    data = jsonl(*rows)
    return validate(data, format=shape, lint=True, max_problems=0, examples=0)


def name_of(case: Any) -> str:
    """Return what a case is called in the output of the tests."""
    if isinstance(case, Fault):
        return f"{case.code}-{'-'.join(case.changes)}"
    return str(case)


def test_empty_id_of_a_call_names_none() -> None:
    """A tool turn does not answer a call whose id is empty, in any number of rows."""
    changes = {"turns.2.tool_calls.0.id": "", "turns.3.tool_call_id": ""}
    row = changed(clean_row(SEED, AGENTIC), changes)
    rows = [{**row, "sample_id": f"{number}"} for number in range(300)]

    codes = [each.code for each in report_on(SEED, *rows).problems]

    assert codes.count("E107") == len(rows)


@pytest.mark.parametrize(
    "counts",
    [
        {"input_tokens": 10**400, "output_tokens": 2.0, "total_tokens": 2},
        {"input_tokens": 10**4300 - 1, "output_tokens": 2, "total_tokens": 2},
    ],
)
def test_counts_of_any_size_are_added(counts: dict[str, Any]) -> None:
    """Sums that no float holds, or that have too many digits to write, are compared."""
    row = changed(clean_row(SEED, SINGLE), {"token_usage": counts})

    codes = {each.code for each in report_on(SEED, row).problems}

    assert "E118" in codes
    assert "V902" not in codes


@for_each_case("fault, shape, kind", CASES, ids=name_of)
def test_fault_is_found(fault: Fault, shape: str, kind: str) -> None:
    """A row with one fault breaks the rule that is about it, and no other."""
    report = report_on(shape, changed(clean_row(shape, kind), fault.changes))

    assert [problem.code for problem in report.problems] == [fault.code]


@pytest.mark.parametrize("score", [1, 1.0])
def test_an_error_with_a_full_score_is_found(score: float) -> None:
    """The score of an answer with an error counts, whatever is_correct says.

    It does in many rows, too, which are looked at in a faster way.
    """
    wrong = {"evaluation.score": score, "evaluation.is_correct": False}
    rows = [
        changed(clean_row(CURRENT, SINGLE, number), {"error": "timed out", **wrong})
        for number in range(50)
    ]

    found = {each.code: each.count for each in report_on(CURRENT, *rows).groups}
    assert found == {"E116": 1, "E120": 50}


@pytest.mark.parametrize(
    ("name", "other", "is_one"),
    [
        ("GSM-8K", "gsm8k", True),
        ("bbh 1-1", "bbh_1__1", True),
        ("bbh_1_1", "bbh_11", False),
        ("v1_0_5", "v10_5", False),
    ],
)
def test_names_of_results_differ_by_their_numbers(
    name: str, other: str, *, is_one: bool
) -> None:
    """What joins words makes no other name; between two numbers it parts them."""
    rows = [
        changed(clean_row(CURRENT, SINGLE, number), {"evaluation_name": each})
        for number, each in enumerate((name, other))
    ]

    codes = [each.code for each in report_on(CURRENT, *rows).problems]
    assert codes == (["E305"] if is_one else [])


@pytest.mark.parametrize("shape", SHAPES)
def test_clean_rows_have_no_finding(shape: str) -> None:
    """Of 600 rows of all kinds without a fault, nothing is reported."""
    rows = [clean_row(shape, KINDS[number % 3], number) for number in range(600)]

    assert not report_on(shape, *rows).problems


ALLOWED = (
    Fault("", {"sample_hash": GONE}),
    Fault("", {"schema_version": "instance_level_eval_0.2.0"}, shapes=OPEN),
    Fault("", {"schema_version": "instance_level_eval_0.2.2"}, shapes=(CURRENT,)),
    Fault("", {"model_id": "openai/openai/model"}),
    # Of 10, or of 100: what counts as correct on another scale is not known.
    Fault("", {"evaluation.score": 8, "evaluation.is_correct": True}),
    Fault("", {"evaluation.score": 87.5, "evaluation.is_correct": True}),
    Fault("", {"sample_id": 17}, shapes=OPEN),
    Fault(
        "",
        {
            "input.choices": ["plum", "pear"],
            "input.reference": first("B"),
            "sample_hash": GONE,
        },
    ),
    Fault(
        "",
        {
            "input.choices": ["plum", "pear"],
            "input.reference": first("1"),
            "sample_hash": GONE,
        },
    ),
    Fault("", {"input.choices": GONE, "input.formatted": GONE}),
    Fault("", {"input.reference": [], "sample_hash": GONE}, shapes=LISTS),
    Fault(
        "", {f"{STEP}.extraction_method": "llm_judge", f"{STEP}.extracted_value": "x"}
    ),
    Fault("", {f"{STEP}.extraction_method": "custom", f"{STEP}.extracted_value": "x"}),
    Fault("", {f"{STEP}.extracted_value": lambda value: f" {value.upper()}\n"}),
    Fault(
        "",
        {
            "output.raw": first("A mac\u0327a\u0303."),
            f"{STEP}.extracted_value": "ma\u00e7\u00e3",
        },
        (SINGLE,),
    ),
    Fault("", {f"{STEP}.source": "interactions[turn_idx].content"}, TURNS, OPEN),
    Fault("", {f"{STEP}.source": "messages[turn_idx].content"}, TURNS, (CURRENT,)),
    Fault(
        "",
        {
            f"{STEP}.turn_idx": 3,
            f"{STEP}.source": "interactions[3].content",
            f"{STEP}.extracted_value": "seven",
        },
        (AGENTIC,),
        OPEN,
    ),
    Fault("", {"evaluation.score": 0.5, "evaluation.is_correct": False}),
    Fault("", {"evaluation.num_turns": GONE}, (SINGLE,)),
    Fault("", {"evaluation.tool_calls_count": GONE}),
    Fault(
        "",
        {
            "token_usage.reasoning_tokens": 5000,
            "token_usage.total_tokens": lambda total: total + 5000,
        },
    ),
    Fault("", {"token_usage": GONE, "performance": GONE, "metadata": GONE}),
    Fault("", {"performance.latency_ms": None}),
    Fault("", {"performance": {"latency_ms": 900, "generation_time_ms": 900.9}}),
    Fault("", {"performance": {"latency_ms": 900.3, "generation_time_ms": 900.35}}),
    Fault(
        "",
        {"performance": {"latency_ms": 0.3, "generation_time_ms": 0.1 + 0.1 + 0.1}},
    ),
    # Where nothing could be extracted, and where there is nothing to compare with.
    Fault("", {LAST: "", **WRONG}),
    Fault(
        "",
        {"input.reference": "", "input.choices": GONE, "sample_hash": GONE},
        shapes=OPEN,
    ),
    # What differs in thousands separators or white space only.
    *(
        Fault("", {"output.raw": first(text), **VALUE(value)}, (SINGLE,))
        for text, value in (
            ("It is 1,234,567 km.", "1234567"),
            ("It is 1234567 km.", "1,234,567"),
            ("Es sind 1.234.567 Euro.", "1234567"),
            ("Il y a 12\u202f345 voix.", "12345"),
            ("It has 12,34,567 rupees.", "1234567"),
            ("in New\n  York\u00a0City", "New York City"),
            ("so x = 5 , y = ( 3 )", "x=5, y=(3)"),
            ("答案 是 \u3000四十二", "答案是四十二"),
        )
    ),
    Fault(
        "",
        {"error": "timed out", "evaluation.score": 0, "evaluation.is_correct": False},
    ),
    Fault(
        "",
        {
            "error": "timed out",
            "evaluation.score": 0,
            "evaluation.is_correct": False,
            "output.raw": first(""),
            f"{STEP}.extraction_method": "custom",
        },
        (SINGLE,),
    ),
    Fault("", {"metadata.level": 3}, shapes=OPEN),
    Fault("", {"evaluation_result_id": "orchard:em"}),
)


@for_each_case(
    "allowed, shape, kind",
    [
        (allowed, shape, kind)
        for allowed in ALLOWED
        for shape, kind in some_pairs(allowed.shapes, allowed.kinds)
    ],
    ids=name_of,
)
def test_what_is_allowed_is_not_reported(allowed: Fault, shape: str, kind: str) -> None:
    """What may be said in several ways is right in each of them."""
    report = report_on(shape, changed(clean_row(shape, kind), allowed.changes))

    assert not report.problems
