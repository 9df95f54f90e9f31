"""What the whole file decides: one mistake gives one finding, and meant leaks none."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from eee_rows import CURRENT, GONE, KINDS, SEED, changed, clean_row
from harpia_formats import validate
from json_lines import jsonl
from worker_units import read_again_in_pieces

Row = dict[str, Any]
SINGLE, MULTI, AGENTIC = KINDS


def found_in(rows: list[Row], format_: str, *codes: str, **options: Any) -> list[Any]:
    """Return the code and record of the problems of rules in rows, sorted."""
    data = jsonl(*rows)
    report = validate(data, format=format_, lint=True, jobs=1, examples=0, **options)
    return sorted(
        (each.code, each.place.record) for each in report.problems if each.code in codes
    )


def question(prompt: str, **given: str) -> Row:
    """Return a row of nemo-input."""
    row = {"prompt": prompt, "ideal_response": "yes", "category": "", "source": "s"}
    return row | given


def record(id_: str, prompt: str, reference: str = "yes") -> Row:
    """Return a record without an answer."""
    return {"id": id_, "prompt": prompt, "references": [reference], "outputs": []}


REPEATED = [question("What?"), question("What?"), question("what"), question("Why?")]


def test_repeated_question_is_no_near_duplicate_too() -> None:
    """N111 stays, and X102 finds what is not quite the same."""
    pair = ("N111", "X102")

    assert found_in(REPEATED, "nemo-input", *pair) == [("N111", 2), ("X102", 3)]
    assert found_in(REPEATED, "nemo-input", *pair, ignore=("N111",)) == [
        ("X102", 2),
        ("X102", 3),
    ]


@pytest.mark.parametrize(
    ("prompts", "references", "repeated"),
    [
        (["a", "a"], ["b", "b"], True),
        (["a\0b", "a"], ["c", "b\0c"], False),
        (["ab", "a"], ["c", "bc"], False),
        ([1, 1.0], ["b", "b"], True),
        ([1, "1"], ["b", "b"], False),
        ([1, True], ["b", "b"], False),
        ([[1], [1]], [None, None], False),
        ([["a"], ["a"]], ["b", "b"], True),
    ],
)
def test_questions_are_repeated_if_all_that_is_asked_is_equal(
    prompts: list[Any], references: list[Any], repeated: bool
) -> None:
    """The same prompt and ideal response are found, also where they are no texts."""
    others = [question(f"Question {number}?") for number in range(20)]
    rows = [
        question("") | {"prompt": prompt, "ideal_response": reference}
        for prompt, reference in zip(prompts, references, strict=True)
    ]
    found = found_in([*others, *rows], "nemo-input", "N111")

    assert found == ([("N111", 22)] if repeated else [])


def test_refused_row_repeats_a_question() -> None:
    """A row that the schema refuses is compared with one that it allows."""
    rows = [question(f"Question {number}?") for number in range(20)]
    rows.append(rows[3] | {"source": 5})

    assert found_in(rows, "nemo-input", "N111") == [("N111", 21)]


def test_the_more_severe_of_two_findings_stays() -> None:
    """By the severities that the user gives, and the first of the pair if equal."""
    pair = ("N111", "X102")
    rows = REPEATED[:2]

    for severity, code in (
        ({"N111": "note"}, "X102"),
        ({"X102": "error"}, "X102"),
        ({"N111": "error"}, "N111"),
        ({"N111": "note", "X102": "note"}, "N111"),
    ):
        found = found_in(rows, "nemo-input", *pair, severity=severity)
        assert found == [(code, 2)]


#: Rows of which some are equal, and others but for case, a value or a type.
asked = st.builds(
    question,
    st.sampled_from(["What?", "what", ""]),
    ideal_response=st.sampled_from(["yes", "Yes", "", None, 5]),
    category=st.sampled_from(["", "c"]),
)
#: Rows with the same texts that N111 passes over, or that differ for it.
UNCOMPARED = [{**question("What?"), "ideal_response": None}] * 2
OTHER_TYPES = [{**question("What?"), "ideal_response": value} for value in (5, True)]


def later_than_equals(rows: list[Row], key: Callable[[Row], Any]) -> set[int]:
    """Return the numbers of rows with a key that a row before them has."""
    keys = list(map(key, rows))
    return {n for n, each in enumerate(keys) if each is not None and each in keys[:n]}


def exactly(row: Row) -> Any:
    """Return what N111 compares of a row, None if it passes it over."""
    values = row["prompt"], row["ideal_response"]
    return None if None in values else values


def roughly(row: Row) -> Any:
    """Return what X102 compares of a row, None if it asks nothing."""
    prompt, answer = row["prompt"], row["ideal_response"]
    if not prompt or not isinstance(prompt, str):
        return None
    parts = prompt.strip("?"), answer if isinstance(answer, str) else ""
    return row["category"], [part.casefold() for part in parts if part]


@example(rows=REPEATED, times=3, is_note=False)
@example(rows=UNCOMPARED, times=1, is_note=False)
@example(rows=OTHER_TYPES, times=1, is_note=False)
@example(rows=OTHER_TYPES, times=2, is_note=True)
@given(
    rows=st.lists(asked, min_size=1, max_size=9),
    times=st.integers(1, 3),
    is_note=st.booleans(),
)
def test_repeats_are_counted_exactly(
    rows: list[Row], times: int, is_note: bool
) -> None:
    """Also those that are not listed, of rules that one mistake breaks."""
    rows *= times
    first, second = later_than_equals(rows, exactly), later_than_equals(rows, roughly)
    expected = {"N111": len(first - second if is_note else first)}
    expected["X102"] = len(second if is_note else second - first)

    with pytest.MonkeyPatch.context() as patch:
        read_again_in_pieces(patch)
        report = validate(
            jsonl(*rows),
            format="nemo-input",
            lint=True,
            jobs=1,
            examples=1,
            severity={"N111": "note"} if is_note else {},
        )

    found = {group.code: group.count for group in report.groups}
    assert {code: found.get(code, 0) for code in expected} == expected


IDS = [
    record("a1", "One?"),
    record("a1\u200b", "Two?"),
    record("b\u200b", "Three?"),
    record("c\u200b", "Fo\u200bur?"),
    record("c", "Five?"),
]


def test_invisible_character_of_a_look_alike_id_is_reported_once() -> None:
    """X103 stays, whichever of the two records has it; other characters are found."""
    pair = ("J208", "X103")

    assert found_in(IDS, "record", *pair) == [
        ("J208", 3),
        ("J208", 4),
        ("X103", 2),
        ("X103", 5),
    ]
    assert found_in(IDS, "record", *pair, ignore=("X103",)) == [
        ("J208", 2),
        ("J208", 3),
        ("J208", 4),
        ("J208", 4),
    ]
    assert found_in(IDS, "record", *pair, severity={"J208": "warning"}) == [
        ("J208", 2),
        ("J208", 3),
        ("J208", 4),
        ("J208", 4),
    ]


EMPTY = {
    "output.raw": "",
    "answer_attribution": lambda steps: [{**steps[-1], "extracted_value": ""}],
    "evaluation.score": 1,
    "evaluation.is_correct": True,
}


def test_empty_answer_that_is_right_is_reported_once() -> None:
    """V304 stays, and E122 on another text of the row does, too."""
    row = changed(clean_row(SEED, SINGLE), EMPTY)
    other = {**row, "evaluation_name": ""}

    assert found_in([row], SEED, "V304", "E122") == [("V304", 1)]
    assert found_in([row], SEED, "V304", "E122", ignore=("V304",)) == [("E122", 1)]
    assert found_in([other], SEED, "V304", "E122") == [("E122", 1), ("V304", 1)]


@pytest.mark.parametrize(
    ("shape", "kind", "changes", "codes"),
    [
        (
            SEED,
            SINGLE,
            {"evaluation.num_turns": 4, "answer_attribution.0.turn_idx": 3},
            ["E113"],
        ),
        (CURRENT, MULTI, {"turns": lambda turns: turns[:4]}, ["E113"]),
        (
            CURRENT,
            MULTI,
            {"evaluation.num_turns": 3, "answer_attribution.0.turn_idx": 9},
            ["E109", "E113"],
        ),
        (
            SEED,
            AGENTIC,
            {"evaluation.num_turns": GONE, "answer_attribution.0.turn_idx": 1},
            ["E109", "E113"],
        ),
    ],
)
def test_turns_that_are_not_there_are_reported_once(
    shape: str, kind: str, changes: dict[str, Any], codes: list[str]
) -> None:
    """E113 stays where num_turns counts the turn, and independent mistakes are two."""
    row = changed(clean_row(shape, kind), changes)

    assert [code for code, _ in found_in([row], shape, "E109", "E113")] == codes


def leaking(*leaks: int, count: int = 20) -> list[Row]:
    """Return records, some of which have the reference in the prompt."""
    return [
        record(
            f"{number}",
            f"Text {number}: {f'word{number}x' if number in leaks else 'nothing'}",
            f"word{number}x",
        )
        for number in range(count)
    ]


@for_each_case(
    "rows, found",
    [
        (leaking(3), [4]),
        (leaking(*range(10)), [*range(1, 11)]),
        (leaking(*range(11)), []),
        (leaking(*range(20)), []),
        (leaking(0, 1, 2, count=3), [1, 2, 3]),
    ],
)
def test_references_in_most_prompts_are_meant(
    rows: list[Row], found: list[int]
) -> None:
    """References are reported unless most prompts of the file hold theirs.

    They do in a task of extraction, whose answers are parts of the prompt.
    """
    assert [place for _, place in found_in(rows, "record", "V301")] == found


def test_references_in_most_prompts_of_a_table_are_meant() -> None:
    """A table is judged as a whole, too."""

    def table(*leaks: int) -> bytes:
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "references"])
        for row in leaking(*leaks):
            writer.writerow([row["id"], row["prompt"], *row["references"]])
        return file.getvalue().encode()

    for leaks, lines in (((3, 9), [5, 11]), (range(20), [])):
        report = validate(table(*leaks), format="csv", select=("V301",), jobs=1)
        assert [each.place.line for each in report.problems] == lines


def test_limit_decides_of_the_records_that_are_read() -> None:
    """Records beyond the limit have no part in what the file shows."""
    rows = leaking(*range(4))

    assert found_in(rows, "record", "V301", limit=4) == []
    assert len(found_in(rows, "record", "V301", limit=10)) == 4


def test_error_that_the_whole_file_decides_makes_records_invalid() -> None:
    """With the severity error, the records are invalid, and the first may be all."""
    data = jsonl(*leaking(2, 5))
    options: dict[str, Any] = {"select": ("V301",), "severity": {"V301": "error"}}
    report = validate(data, format="record", jobs=1, **options)

    assert (report.errors, report.summary()["invalid"]) == (2, 2)
    first = validate(data, format="record", jobs=1, fail_fast=True, **options)
    assert [each.place.record for each in first.problems] == [3]


def test_only_the_first_error_of_a_row_is_reported_if_asked_for() -> None:
    """With `fail_fast`, of two rules that the whole file decides one is reported."""
    item = {"id": "\u200b1", "input": "Is it Paris?", "expected-output": "Paris"}
    instances = [item | {"actual-output": "yes"}]
    data = jsonl({"metrics": [], "instances": instances})
    codes = ("V301", "J208", "X103")
    report = validate(
        data,
        format="harpia",
        jobs=1,
        select=codes,
        severity=dict.fromkeys(codes, "error"),
        fail_fast=True,
    )

    assert [each.code for each in report.problems] == ["J208"]
