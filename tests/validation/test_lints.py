"""The mechanism of lints: rows, rules across rows, order, places, and selection."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import validate
from harpia_formats.model.lint import FileLint, FileRemark, Lints, RowLint
from harpia_formats.plugins import Remark
from json_lines import jsonl
from sample_lints import (
    CODES,
    EXTRAS,
    FAILING,
    LOOSE,
    SELDOM,
    SOURCES,
    TIMES,
    empty_answer,
    remember,
    use_lints,
)
from worker_units import (
    forked_workers,
    read_again_in_pieces,
    small_units,
)

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def _lints(monkeypatch: pytest.MonkeyPatch) -> None:
    use_lints(monkeypatch)


def row_of(number: int, **given: Any) -> Row:
    """Return a row of nemo-output about which lints say nothing."""
    question = {
        "prompt": given.pop("prompt", f"question {number}"),
        "ideal_response": "yes",
        "category": "",
        "source": given.pop("source", f"source {number}"),
    }
    answer = {"response": f"answer {number}", "llm_name": "one"}
    return {"input": question, **answer, **given}


def report_of(data: bytes | Path, **given: Any) -> Any:
    """Return the report of a file, of nemo-output by default, by the lints in use."""
    options: dict[str, Any] = {"select": CODES, "jobs": 1, "max_problems": 0}
    return validate(data, **{"format": "nemo-output", **options, **given})


def found_in(rows: list[Row], **given: Any) -> list[tuple[str, int | None, str]]:
    """Return the code, the record and the message of each problem of some rows."""
    data = jsonl(*rows)
    report = report_of(data, examples=0, **given)
    return [(each.code, each.place.record, each.message) for each in report.problems]


#: Whether a typed row is clean, None if only `remarks` tells; asking for a key that no
#: row has, as the last one does, means no.
CLEAN: dict[str, Callable[[Any], bool] | None] = {
    "sure": lambda row: bool(row.response),
    "unsure": None,
    "unknown key": lambda row: bool(row.note and row.response),
}


@pytest.mark.parametrize("count", [3, 300])
@pytest.mark.parametrize("is_clean", CLEAN)
def test_row_lint_places_its_remarks(
    count: int, is_clean: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A remark is placed in its row, whether or not a typed decoder read the rows."""
    lint = RowLint(("N103",), empty_answer, is_clean=CLEAN[is_clean])
    use_lints(monkeypatch, Lints((lint,)))
    for text in ("an answer", "é" * 40):
        rows = [row_of(number, response=text) for number in range(count)]
        rows[count - 2]["response"] = ""

        assert found_in(rows) == [("N103", count - 1, "there is no answer")]


def test_rows_of_which_a_lint_cannot_tell_at_once_are_asked_singly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lint that looks at many rows may miss a key: then each row is looked at."""
    lint = RowLint(
        ("N103",),
        empty_answer,
        is_clean=CLEAN["sure"],
        suspects=lambda rows: [len(row.note) for row in rows],
    )
    use_lints(monkeypatch, Lints((lint,)))
    rows = [row_of(number) for number in range(300)]
    rows[298]["response"] = ""

    assert found_in(rows) == [("N103", 299, "there is no answer")]


@pytest.mark.parametrize("count", [3, 300])
def test_values_of_a_file_are_counted(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is seldom in the whole file is found, also in a row with a schema error."""
    use_lints(monkeypatch, SELDOM)
    rows = [row_of(number) for number in range(count)]
    rows[1] |= {"llm_name": "two", "response": 5}

    assert found_in(rows) == [("N103", 2, "one answer is of two")]


COLUMNS = "questions", "ground_truth_answers", "predicted_answers"
#: Ways of a lint to tell of many rows that they are clean, each with a format of these.
QUICK: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("nemo-output", {"text": re.compile(b"not there")}),
    "suspects": ("nemo-output", {"suspects": lambda _: []}),
    "is_clean": ("nemo-output", {"is_clean": lambda _: True}),
    "are_clean": ("csv", {"are_clean": lambda _: True}),
    "items": ("haystack", {"are_clean": lambda _: True}),
}


@pytest.mark.parametrize("way", QUICK)
def test_lint_does_not_look_at_all_rows_one_by_one(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more is asked of a lint that tells of many rows that they are clean."""
    asked = []

    def ask(_: Any) -> Any:
        asked.append(1)
        return ()

    format_, given = QUICK[way]
    lint = RowLint(("N103",), ask, **{"is_clean": ask, **given})
    use_lints(monkeypatch, Lints((lint,)))
    data = {
        "nemo-output": jsonl(*map(row_of, range(100))),
        "csv": b"prompt,response\n" + b"question,answer\n" * 100,
        "haystack": json.dumps(dict.fromkeys(COLUMNS, ["text"] * 100)).encode(),
    }

    assert report_of(data[format_], format=format_).problems == ()
    # Single items come first, which no typed decoder reads.
    assert len(asked) < 20


def test_refused_row_is_linted_next_to_its_error() -> None:
    """A row with a schema error is linted, but not at the place of that error."""
    small = row_of(1, response="", llm_name=5)
    noisy = row_of(2, response={})

    found = found_in([small, noisy, row_of(3)], select=("N103", "S"))

    assert [each[:2] for each in found] == [("N103", 1), ("S102", 1), ("S102", 2)]


@pytest.mark.parametrize("count", [5, 300])
def test_each_row_that_disagrees_is_reported(count: int) -> None:
    """The place is the row that disagrees, and the message names the first one."""
    rows = [row_of(number) for number in range(count)]
    rows[3]["llm_name"] = "other"
    rows[4]["input"]["source"] = "source 0"
    rows[2]["input"]["prompt"] = "question 1"

    assert found_in(rows) == [
        ("E304", 3, "answer 2 after answer 1 in record 2"),
        ("E301", 4, "other after one in record 1"),
        ("E305", 5, "source 0 after source 0 in record 1"),
    ]


def test_types_must_not_be_mixed() -> None:
    """A value of another JSON type than before is reported; absent and null are not."""
    rows = [row_of(0), row_of(1, extra=1), row_of(2, extra=None), row_of(3, extra="1")]

    assert found_in(rows) == [("E303", 4, "text after a number in record 2")]


@for_each_case(
    "first, second, shown",
    [
        (["x"], ["y"], '["y"] after ["x"]'),
        ({"a": 1}, "b", 'b after {"a":1}'),
        (1, 2.5, "2.5 after 1"),
        (True, 1, "1 after true"),
        ("(a", "(b", "(b after (a"),
        ("\na", "\nb", "\nb after \na"),
        (f"({'a' * 250}", "b", f"b after ({'a' * 199}"),
        (["a" * 250], "b", f'b after ["{"a" * 198}'),
    ],
)
def test_values_of_any_type_are_named(first: Any, second: Any, shown: str) -> None:
    """The message has both values as they are in the file, the earlier one in part."""
    with pytest.MonkeyPatch.context() as patch:
        use_lints(patch, EXTRAS)

        found = found_in([row_of(0, extra=first), row_of(1, extra=second)])

    assert found == [("E301", 2, f"{shown} in record 1")]


def test_containers_give_the_same_findings() -> None:
    """Lines and an array of the same rows have the same findings."""
    rows = [
        row_of(number, llm_name="one" if number % 7 else "two") for number in range(40)
    ]

    lines = [found[:2] for found in found_in(rows)]
    array = report_of(json.dumps(rows).encode(), examples=0)

    assert len(lines) == 34
    assert [(each.code, each.place.record) for each in array.problems] == lines


def reference(rows: list[Row]) -> list[tuple[str, int]]:
    """Return what the rules across rows must find, in the order of the records."""
    found = []
    names = [row["llm_name"] for row in rows]
    answers: dict[str, str] = {}
    sources: set[str] = set()
    for number, row in enumerate(rows, 1):
        if row["llm_name"] != names[0]:
            found.append(("E301", number))
        first = answers.setdefault(row["input"]["prompt"], row["response"])
        if first != row["response"]:
            found.append(("E304", number))
        if row["input"]["source"] in sources:
            found.append(("E305", number))
        sources.add(row["input"]["source"])
    return found


values = st.sampled_from(["a", "b", "c", "(", "\n", "é"])
few_rows = st.lists(
    st.builds(
        lambda name, prompt, source, answer: row_of(
            0, llm_name=name, prompt=prompt, source=source, response=answer
        ),
        values,
        values,
        values,
        values,
    ),
    min_size=1,
    max_size=30,
)


@given(few_rows, st.integers(0, 3))
@examples(20)
def test_findings_are_exact(rows: list[Row], named: int) -> None:
    """They are those of a loop over all rows, however few keys are remembered."""
    with pytest.MonkeyPatch.context() as patch:
        use_lints(patch)
        remember(patch, named)

        found = found_in(rows, select=CODES[1:])

    assert [each[:2] for each in found] == reference(rows)


def test_rows_without_what_is_compared_may_stand_next_to_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rule may concern none of some rows, and be broken by others of the file."""
    use_lints(monkeypatch, SOURCES)
    sources = [""] * 200 + ["a", "", "a"]
    rows = [row_of(number, source=each) for number, each in enumerate(sources)]

    assert [each[:2] for each in found_in(rows)] == [("E305", 203)]


def test_findings_are_equal_for_any_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges validated by workers give what one process gives."""
    forked_workers(monkeypatch)
    small_units(monkeypatch)
    path = tmp_path / "rows.jsonl"
    with path.open("w") as file:
        for number in range(900):
            row = row_of(number, source=f"source {number % 890}")
            file.write(json.dumps(row) + "\n")

    one, two = (report_of(path, jobs=jobs) for jobs in (1, 2))

    assert [each.count for each in one.groups] == [10]
    assert one == two


def blank_answers(counts: Mapping[str, int], _: Any) -> Iterator[FileRemark]:
    """Remark on how many rows have an answer that is blank."""
    remark = Remark("E301", ("response",), f"{counts['blank']} are blank")
    yield FileRemark(remark, lambda row: row["response"] == "")


@pytest.mark.parametrize("format_", ["csv", "nemo-output"])
def test_lint_of_the_file_counts_all_of_its_rows(
    format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are counted of a table, too, whose records are else read at once."""
    lint = FileLint(
        "E301",
        (("response",),),
        lambda found: {"blank": found[0].count("")},
        blank_answers,
    )
    use_lints(monkeypatch, Lints(files=(lint,)))
    rows = [row_of(number, response="b" * (number % 3)) for number in range(60)]
    table = "prompt,response\n" + "".join(f"q,{row['response']}\n" for row in rows)
    data = table.encode() if format_ == "csv" else jsonl(*rows)

    (problem,) = report_of(data, format=format_).problems

    assert (problem.message, problem.place.record) == ("20 are blank", 1)


def test_limit_bounds_what_is_compared() -> None:
    """Rows beyond the limit are not compared."""
    rows = [row_of(0), row_of(1), row_of(2, llm_name="two")]

    assert found_in(rows, limit=2) == []
    assert len(found_in(rows, limit=3)) == 1


def test_fail_fast_ends_with_the_first_error() -> None:
    """A rule across rows with the severity error ends the run at its first finding."""
    rows = [row_of(number, llm_name=f"model {number}") for number in range(9)]

    report = report_of(jsonl(*rows), fail_fast=True)

    assert [(each.code, each.place.record) for each in report.problems] == [("E301", 2)]


def test_errors_across_rows_make_records_invalid() -> None:
    """A record with a finding of severity error is invalid."""
    rows = [row_of(0), row_of(1, llm_name="two"), row_of(2, source="source 0")]

    report = report_of(jsonl(*rows))
    (file,) = report.files

    assert {each.code: each.severity.value for each in report.groups}["E301"] == "error"
    assert file.invalid >= 1
    assert file.errors + file.warnings + file.notes == len(report.problems)


@pytest.mark.parametrize(("severity", "invalid"), [("error", 299), ("warning", 0)])
def test_rows_that_are_only_counted_are_counted_exactly(
    severity: str, invalid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the examples, rows without a value break no rule, and errors count."""
    read_again_in_pieces(monkeypatch)
    rows = [row_of(number, source=None) for number in range(5)]
    rows += [row_of(number, source="one") for number in range(300)]

    report = report_of(jsonl(*rows), examples=1, severity={"E305": severity})

    assert [(each.code, each.count) for each in report.groups] == [("E305", 299)]
    assert report.files[0].invalid == invalid


def test_prepared_values_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule makes of a value is compared instead of it, as rows are read."""
    use_lints(monkeypatch, LOOSE)
    rows = [row_of(number) for number in range(300)]
    rows[200]["input"]["source"] = "SOURCE 7"

    assert [each[:2] for each in found_in(rows)] == [("E305", 201)]


CHOICES = [{"index": 0, "turns": ["yes"]}]


def test_large_numbers_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers that are the same as floats differ, however the rows are read."""
    use_lints(monkeypatch, TIMES)
    times = [*range(2**53, 2**53 + 300), 2**53 + 7, float(2**53 + 8)]
    rows = [
        {"question_id": number, "model_id": "m", "choices": CHOICES, "tstamp": each}
        for number, each in enumerate(times)
    ]

    found = found_in(rows, format="mt-bench-answers")

    assert [each[:2] for each in found] == [("E305", 301), ("E305", 302)]


BEFORE: Row = {"llm_name": "one", "response": "a"}
AFTER: Row = {"llm_name": "two", "response": "b"}


def test_alike_rows_are_compared_with_other_alike_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that are read together may all have one value, and the next ones another."""
    read_again_in_pieces(monkeypatch, 16_000)
    rows = [row_of(number, prompt="same", **BEFORE) for number in range(300)]
    rows += [row_of(number, prompt="same", **AFTER) for number in range(300, 600)]

    report = report_of(jsonl(*rows), examples=2)

    found = {each.code: each.count for each in report.groups}
    assert found == {"E301": 300, "E304": 300}


def test_only_selected_lints_are_reported() -> None:
    """Lints are made only if a rule of theirs is selected and not ignored."""
    rows = [row_of(0, response=""), row_of(1, llm_name="two")]

    assert [each[0] for each in found_in(rows, select=("E301",))] == ["E301"]
    assert [each[0] for each in found_in(rows, ignore=("E301",))] == ["N103"]
    assert found_in(rows, select=()) == []


def test_error_in_a_lint_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lint that fails leaves only its own record without a verdict."""
    use_lints(monkeypatch, FAILING)
    found = found_in([row_of(0), row_of(1), row_of(2)])

    assert [each[:2] for each in found] == [("V902", 2)]
