"""Ranges, patterns, uniqueness and missing values of any field of records."""

import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from effort import examples
from harpia_formats import PreflightError, Report
from in_process import InProcess

#: Writes rows as lines of JSON into a file below the folder of the test.
Write = Callable[..., Path]


def checked(path: Path, expected: dict[str, Any], **options: Any) -> Report:
    """Return the report of a preflight of one file of records."""
    data_set = {"files": path, "format": "record", **expected}
    return harpia_formats.preflight({"datasets": {"a": data_set}}, **options)


def line_numbers(report: Report, code: str) -> list[int]:
    """Return the lines of the problems of a rule."""
    return [each.place.line for each in report.problems if each.code == code]


def state_of(report: Report, key: str) -> str:
    """Return the state of the only check of a key."""
    (found,) = (each for each in report.checks if each.key == key)
    return found.state.value


def rows(*values: Any, field: str = "level") -> list[dict[str, Any]]:
    """Return a record for each value of a field of its metadata."""
    return [
        {"prompt": str(number), "metadata": {} if value is ... else {field: value}}
        for number, value in enumerate(values)
    ]


def test_numbers_outside_of_a_range_are_found(write: Write) -> None:
    """Bounds belong to the range; texts, booleans and lists of others do not."""
    path = write("a.jsonl", *rows(0, 1, 1.5, -0.1, "0.5", True, None, ..., [0, 2]))

    report = checked(
        path,
        {"min-values": {"metadata.level": 0}, "max-values": {"metadata": {"level": 1}}},
    )

    assert line_numbers(report, "P304") == [4, 5, 6, 3, 5, 6, 9]
    assert [state_of(report, key) for key in ("min-values", "max-values")] == [
        "broken",
        "broken",
    ]


@pytest.mark.parametrize(
    ("value", "bound", "is_met"),
    [
        ("0.1", 0.1, True),
        ("0.1000000000000001", 0.1, False),
        ("9007199254740993.0", 9007199254740992, False),
        ("1e-99999999999999999999", 1, True),
        ("1e400", 9, False),
        pytest.param("9", 10**400, True, id="beyond floats"),
    ],
)
def test_numbers_are_compared_exactly(
    tmp_path: Path, value: str, bound: float, *, is_met: bool
) -> None:
    """Digits beyond those of a float, and numbers beyond its range, count."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"prompt": "1", "outputs": [], "metadata": {{"level": {value}}}}}\n'
    )

    report = checked(path, {"max-values": {"metadata.level": bound}})

    assert (state_of(report, "max-values") == "met") is is_met


def test_numbers_of_other_packages_are_numbers(write: Write) -> None:
    """A number in Python may be of a class of its own, as those of numpy are."""

    class Double(float):
        __str__ = float.__repr__

        def __repr__(self) -> str:
            return f"Double({self})"

    path = write("a.jsonl", *rows(3))

    report = checked(path, {"max-values": {"metadata.level": Double(3)}})

    assert state_of(report, "max-values") == "met"
    with pytest.raises(PreflightError, match='a share is written as "1 %"'):
        checked(path, {"max-invalid": Double(0.01)})


def test_scores_of_answers_have_a_range(write: Write) -> None:
    """A path into answers and scores compares each of them."""
    answers = [
        {"model": "m", "text": "4", "scores": [{"metric": "em", "value": value}]}
        for value in (1, 7)
    ]
    path = write("a.jsonl", {"prompt": "1", "outputs": answers})

    report = checked(path, {"max-values": {"outputs.scores.value": 1}})

    assert line_numbers(report, "P304") == [1]
    assert report.checks[-1].found == "1 of 2 values not"


def test_patterns_match_whole_texts(write: Write) -> None:
    """A part, a line end behind it, and a number do not match."""
    path = write("a.jsonl", *rows("q-1", "q-1\n", "xq-1", "q-", 1, None))

    report = checked(path, {"patterns": {"metadata.level": "q-[0-9]+"}})

    assert line_numbers(report, "P305") == [2, 3, 4, 5]


def test_equal_values_are_found_by_their_first_place(write: Write) -> None:
    """1 and 1.0 are equal, 1 and "1" and true are not; null is equal to nothing."""
    values = (1, "1", True, 1.0, None, None, {"a": 1, "b": 2}, {"b": 2, "a": 1}, ...)
    path = write("a.jsonl", *rows(*values))

    report = checked(path, {"unique-values": ["metadata.level"]})

    assert line_numbers(report, "P306") == [4, 8]
    assert all(f"{path}:" in each.message for each in report.problems)


def test_numbers_are_equal_if_what_is_written_is(tmp_path: Path) -> None:
    """Digits beyond those of a float count, and so do those of long integers."""
    many = "1" * 300
    values = ["9007199254740992", "9007199254740993.0", f"{many}2", f"{many}3"]
    values += ["0.10", "1e-1", "100", "1E2", "0", "-0.0", "1e-99999999999999999999"]
    path = tmp_path / "a.jsonl"
    record = '{"prompt": "1", "outputs": [], "metadata": {"level": %s}}\n'
    path.write_text("".join(record % value for value in values))

    report = checked(
        path,
        {
            "unique-values": ["metadata.level"],
            "required-values": {"metadata.level": [9007199254740993]},
        },
    )

    assert line_numbers(report, "P306") == [6, 8, 10, 11]
    assert state_of(report, "required-values") == "met"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
@examples(12)
def test_repeated_values_are_those_of_a_counter(values: list[int]) -> None:
    """Of each value all records but the first are found, wherever they stand."""
    text = "".join(
        f'{{"prompt": "{n}", "outputs": [], "category": "{value}"}}\n'
        for n, value in enumerate(values)
    )
    path = Path("a.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        import tempfile  # noqa: PLC0415 - hypothesis takes no fixture of a function

        with tempfile.TemporaryDirectory() as folder:
            patch.chdir(folder)
            path.write_text(text)
            report = checked(path, {"unique-values": "category"}, examples=0)

    repeated = sum(number - 1 for number in Counter(values).values())
    assert len(line_numbers(report, "P306")) == repeated
    assert report.ok is not bool(repeated)


def test_missing_values_are_counted_as_a_share(write: Write) -> None:
    """Absent, null, blank and empty values are missing; 0 and false are not."""
    path = write("a.jsonl", *rows(..., None, " ", "", [], 0, False, "x"))

    five = checked(path, {"max-missing-values": {"metadata.level": 5}})
    half = checked(path, {"max-missing-values": {"metadata.level": "62 %"}})

    assert five.ok
    assert five.checks[-1].found == "5 of 8"
    assert line_numbers(half, "P307") == [1, 2, 3, 4, 5]


def test_missing_values_of_answers_are_counted_by_answer(write: Write) -> None:
    """Each answer without the field counts, and a record without answers."""
    answers = [{"model": "m", "text": "4"}, {"text": "5"}]
    path = write("a.jsonl", {"prompt": "1", "outputs": answers}, {"prompt": "2"})

    report = checked(path, {"max-missing-values": {"outputs.model": 0}})

    assert report.checks[-1].found == "2 of 3"


@pytest.mark.parametrize(
    "expected",
    [
        {"min-values": {"metadata.nothing": 0}},
        {"patterns": {"extra.nothing": "x"}},
        {"unique-values": ["metadata.nothing"]},
    ],
)
def test_a_field_without_values_leaves_it_undecided(
    write: Write, expected: dict[str, Any]
) -> None:
    """What no record has is not met: the name may be wrong."""
    report = checked(write("a.jsonl", *rows(1, None)), expected)

    assert not report.ok
    assert report.checks[-1].state == "undecided"
    shown = io.BytesIO()
    harpia_formats.write_report(report, shown, reporter="markdown")
    assert "no record has a value in" in shown.getvalue().decode()


def test_unknown_fields_are_refused(write: Write) -> None:
    """A field that the format has not is an error of the file, with a near one."""
    for key, value in {
        "min-values": {"categry": 0},
        "patterns": {"categry": "x"},
        "unique-values": "categry",
        "max-missing-values": {"categry": 0},
    }.items():
        with pytest.raises(PreflightError, match="did you mean category"):
            checked(write("a.jsonl", *rows(1)), {key: value})


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ({"min-values": {"id": 2}, "max-values": {"id": 1}}, "1 is less than"),
        ({"min-values": {"id": float("nan")}}, "finite number"),
        ({"max-values": {"id": float("inf")}}, "finite number"),
        ({"patterns": {"id": "("}}, "not valid"),
        ({"patterns": {"id": 1}}, "must be a text"),
        ({"unique-values": []}, "is empty"),
        ({"max-missing-values": {"id": "101 %"}}, "at most 100 %"),
    ],
)
def test_what_cannot_hold_is_refused(
    write: Write, expected: dict[str, Any], reason: str
) -> None:
    """Bounds and patterns that cannot be used are errors, with what is wrong."""
    with pytest.raises(PreflightError, match=reason):
        checked(write("a.jsonl", *rows(1)), expected)


def test_empty_data_breaks_the_number_of_records(tmp_path: Path) -> None:
    """A range over no records is not enough: there must be one."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")

    report = checked(path, {"min-values": {"id": 0}, "unique-values": "id"})

    assert not report.ok


def test_findings_are_the_same_for_any_number_of_workers(write: Write) -> None:
    """One process or two: the same report, which shows no value with `redact`."""
    path = write("a.jsonl", *rows(*range(300)))
    expected = {
        "max-values": {"metadata.level": 100},
        "patterns": {"prompt": "[0-5]+"},
        "unique-values": ["prompt"],
    }

    found = [checked(path, expected, jobs=jobs).to_dict() for jobs in (1, 2)]
    redacted = checked(path, expected, redact=True)

    assert found[0] == found[1]
    assert all("is 1" not in each.message for each in redacted.problems)


def test_the_range_of_scores_is_proposed(write: Write, run: InProcess) -> None:
    """A preflight file for scored answers has their least and greatest score."""
    answers = [
        {"model": "m", "text": "4", "scores": [{"metric": "em", "value": value}]}
        for value in (0.25, 1, 0)
    ]
    path = write("a.jsonl", {"prompt": "1", "outputs": answers})

    text = run("preflight", "--init", path).out

    assert '# min-values = { "outputs.scores.value" = 0 }\n' in text
    assert '# max-values = { "outputs.scores.value" = 1 }\n' in text


@pytest.mark.parametrize("name", ["$X", "${X}"])
def test_a_text_like_a_variable_is_not_proposed(
    tmp_path: Path, run: InProcess, name: str
) -> None:
    """The data meets the file that is written for it, whatever its texts are."""
    path, target = tmp_path / "a.jsonl", tmp_path / "preflight.toml"
    outputs = [{"model": name, "text": "4"}]
    path.write_text(json.dumps({"prompt": "1", "category": name, "outputs": outputs}))

    assert run("preflight", "--init", path, "-o", target).code == 0
    text = target.read_text()
    target.write_text(text.replace("# allowed", "allowed"))

    assert harpia_formats.preflight(target).ok
    assert ("models =" in text) is ("allowed-values =" in text) is (name == "$X")


def test_any_column_of_a_table_is_a_field(tmp_path: Path) -> None:
    """A column that is no field of records is one here, and its cells are numbers."""
    path = tmp_path / "a.csv"
    path.write_text("prompt,response,level\na,b,3\nc,d,12\ne,f,many\ng,h,\n")
    expected = {
        "files": path,
        "format": "csv",
        "max-values": {"level": 10},
        "max-missing-values": {"level": 1},
        "patterns": {"lvl": "x"},
    }

    report = harpia_formats.preflight({"datasets": {"a": expected}})

    assert line_numbers(report, "P304") == [3, 4]
    assert state_of(report, "max-missing-values") == "met"
    assert state_of(report, "patterns") == "undecided"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"a.b": "x"}', {"metadata.a.b": ["x"]}),
        ('{"a": {"b.c": {"d": "x"}}}', {"metadata.a.b.c.d": ["x"]}),
        ('{"a.b": "x", "a": {"b": "y"}}', {"metadata.a.b": ["x"]}),
        ('{"a.b": {}, "a": {"b": {"c": "x"}}}', {"metadata.a.b.c": ["x"]}),
    ],
)
def test_a_key_may_have_dots(
    tmp_path: Path, data: str, expected: dict[str, Any]
) -> None:
    """It is no path of nested keys alone; the longest key that leads to a value counts.

    So does the name of a column of a table.
    """
    path, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    path.write_text(f'{{"prompt": "1", "outputs": [], "metadata": {data}}}\n')
    table.write_text("question,a.b\n1,x\n")
    of_table = {"format": "csv", "map": {"prompt": "question"}}

    assert checked(path, {"allowed-values": expected}).ok
    assert checked(table, {**of_table, "max-missing-values": {"a.b": 0}}).ok


def test_cells_of_a_column_are_numbers_or_the_texts_that_are_named(
    tmp_path: Path,
) -> None:
    """3 is the cell 3.0, "12" is only the cell 12, and equal numbers are repeated."""
    path = tmp_path / "a.csv"
    path.write_text("prompt,response,level\na,b,3.0\nc,d,12\ne,f,3\ng,h,many\n")
    expected = {
        "files": path,
        "format": "csv",
        "allowed-values": {"level": [3, "12"]},
        "required-values": {"level": [3, "12", "3.00"]},
        "unique-values": "level",
    }

    report = harpia_formats.preflight({"datasets": {"a": expected}})

    assert line_numbers(report, "P302") == [5]
    (missing,) = (each.message for each in report.problems if each.code == "P303")
    assert missing == 'no record has the level "3.00"'
    assert line_numbers(report, "P306") == [4]
