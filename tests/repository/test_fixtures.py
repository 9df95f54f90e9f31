import csv
import io
import json
import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from any_rows import ANY_ROWS
from cases import for_each_case
from harpia_formats import FileCount, Place, Problem, Report, validate
from harpia_formats.plugins import Container, Dialect
from known_formats import FORMATS, RULES

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: Good files whose format must be named: no sign of their own tells it.
NAMED = sorted(FIXTURES.glob("*/named/*"))
VALID = sorted([*FIXTURES.glob("*/valid/*"), *NAMED])
INVALID = sorted(FIXTURES.glob("*/invalid/*"))
#: Files that only rules find fault with that are not checked by default.
DOUBTFUL = sorted(FIXTURES.glob("*/lint/*"))
ALL = [*VALID, *INVALID, *DOUBTFUL]
#: Rules on text and fields: there is nothing that their pointers lead to.
TEXT = re.compile(r"J10[1-46-9]|J3")
#: Characters of a value that a reason shows, at least.
SHOWN = 40
#: Codes that a name begins with.
CODES = re.compile(r"[A-Z]\d{3}(\+[A-Z]\d{3})*")
#: Rules of ours whose place is a key.
AT_KEY = {"S103", "S104", "J105"}
#: Files that are not recognised as the format that they are a broken file of.
NOT_RECOGNISED: dict[str, str | None] = {
    # Tasks in a list, without scores, are many tools'.
    "nemo-results/S102-tasks-list": None,
    # In text, the rows of a table with the fields of records are records.
    "parquet/records": "record",
    # Nothing says what such columns hold.
    "tencent-csv/S101+S101-question-and-solution": None,
    "tencent-csv/S103+S103-header-in-capitals": None,
    # Without a column of system inputs, the answers may be a model's.
    "tencent-csv/T104+T105-id-for-system": "csv",
    "tencent-csv/T104-answer-without-system-column": "csv",
    "tencent-csv/T104-no-system-column": "csv",
}
#: Numbers of all, valid and invalid records in a bad JSON Lines fixture.
EXPECTED_COUNTS = (3, 2, 1)
OTHER_EXPECTED_COUNTS = {
    # The page's example is one record over four lines, two of them comments.
    "tencent-outputs/J101+J101-page-example-with-comment-lines": (4, 2, 2),
}


def name_of(path: Path) -> str:
    """Return what a fixture is called in the output of the tests."""
    return f"{format_of(path)}/{path.name.removesuffix(path.suffix)}"


def format_of(path: Path) -> str:
    """Return the format that a fixture is for."""
    return path.parent.parent.name


def codes_of(path: Path) -> list[str]:
    """Return the codes in the name of a fixture, none if it has none."""
    first = path.stem.split("-")[0]
    return first.split("+") if CODES.fullmatch(first) else []


def report_on(path: Path, *, lint: bool = False) -> Report:
    """Return the report on a fixture, validated as its own format."""
    report = validate(
        path,
        format=format_of(path),
        lint=lint,
        ignore=("S202",),
        examples=0,
        max_problems=0,
    )
    assert not report.failures
    return report


def dialect_of(count: FileCount) -> Dialect:
    """Return the dialect as which a file was validated."""
    assert count.format is not None
    dialects = FORMATS[count.format].dialects
    return next(each for each in dialects if each.name == count.dialect)


def value_at(value: Any, pointer: str) -> Any:
    """Return the value at a pointer of `value`."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key) if isinstance(value, list) else key]
    return value


def row_at(path: Path, place: Place) -> Any:
    """Return the record that a place is in, read in the plainest way."""
    text = path.read_bytes()
    if path.suffix == ".jsonl":
        return json.loads(text.split(b"\n")[place.line - 1])
    whole = json.loads(text)
    return whole[(place.record or 0) - 1] if isinstance(whole, list) else whole


def expected_at(path: Path, dialect: Dialect, place: Place, pointer: str) -> Any:
    """Return the value that a place's pointer leads to, by the dialect's container."""
    container, record = dialect.container, place.record
    value = row_at(path, place)
    if record is not None and container is Container.WRAPPED:
        value = reduce(getitem, dialect.rows_path, value)[record - 1]
    if record is not None and container is Container.COLUMNS:
        parts = pointer.split("/")
        column = value_at(value, "/".join(parts[: dialect.depth + 1]))
        value, pointer = column[record - 1], "/".join(["", *parts[dialect.depth + 1 :]])
    return value_at(value, pointer)


def check_place(path: Path, problem: Problem) -> None:
    """Assert that line, column and byte offset are one place inside the file."""
    text, place = path.read_bytes(), problem.place
    before = text[: place.byte_offset].decode("utf-8", "replace")

    assert 0 <= place.byte_offset <= len(text)
    assert place.line == before.count("\n") + 1
    assert place.column == len(before.rpartition("\n")[2].removeprefix("\ufeff")) + 1
    assert place.end_column > place.column


def check_pointer(path: Path, dialect: Dialect, problem: Problem) -> None:
    """Assert that what stands at a place is what its pointer leads to."""
    place = problem.place
    there = path.read_bytes()[place.byte_offset :].decode()
    expected = expected_at(path, dialect, place, place.pointer)

    shown, end = json.JSONDecoder().raw_decode(there)
    is_key = there[end:].lstrip().startswith(":")
    key = place.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")

    # As texts, in which NaN is NaN.
    assert json.dumps(shown) == json.dumps(key if is_key else expected)
    # A vendor's own rule may be on either.
    if problem.code[0] in "JSCVX":
        assert is_key == (problem.code in AT_KEY)


def check_reasons(path: Path, dialect: Dialect, problem: Problem) -> None:
    """Assert that each reason of a problem stands at its reported place."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    for each in problem.because:
        there = lines[each.line - 1][each.column - 1 :]
        shown, _ = json.JSONDecoder().raw_decode(there)

        if problem.code == "J105":
            assert shown == each.pointer.rpartition("/")[2]
            continue
        expected = expected_at(path, dialect, problem.place, each.pointer)
        assert json.dumps(shown) == json.dumps(expected)
        assert each.value == short_text_of(expected)


def short_text_of(value: Any) -> str:
    """Return a value as JSON, of a long one the first characters."""
    if isinstance(value, str) and len(value) > SHOWN:
        value = value[:SHOWN] + "…"
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= 2 * SHOWN else text[:SHOWN] + "…"


def check_field(path: Path, problem: Problem) -> None:
    """Assert that a place in a table is the field it names, or a record's first."""
    text, place = path.read_bytes(), problem.place
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    columns = rows[0]
    row = columns if place.record is None else rows[place.record]
    column = place.pointer.removeprefix("/")

    there = io.StringIO(text[place.byte_offset :].decode(), newline="")
    (shown, *_) = next(csv.reader(there))

    assert shown == row[columns.index(column) if column else 0]
    assert (place.line == 1) == (place.record is None)


def check_found(path: Path, report: Report) -> None:
    """Assert that every problem of a fixture is where it says."""
    (count,) = report.files
    dialect = dialect_of(count)
    for each in report.problems:
        check_place(path, each)
        if TEXT.match(each.code):
            continue
        if dialect.container is Container.TABLE:
            check_field(path, each)
            continue
        check_pointer(path, dialect, each)
        check_reasons(path, dialect, each)


def test_there_are_fixtures_of_every_format() -> None:
    """Every format has good files and bad ones."""
    formats = set(FORMATS)

    assert {format_of(each) for each in VALID} == formats
    assert {format_of(each) for each in INVALID} == formats


@for_each_case("path", VALID, ids=name_of)
def test_valid_fixture(path: Path) -> None:
    """A good file has no error, and of notes and warnings just those in its name."""
    report = report_on(path)
    (count,) = report.files

    assert report.ok, report.problems
    assert count.records == count.valid
    assert {each.code for each in report.problems} == set(codes_of(path))
    check_found(path, report)


@for_each_case("path", DOUBTFUL, ids=name_of)
def test_lint_fixture(path: Path) -> None:
    """A doubtful file gives exactly the findings that its name says, with --lint.

    Without it, rules that are not checked by default are silent.
    """
    report = report_on(path, lint=True)
    without = {each.code for each in report_on(path).problems}
    lints = {code for code in codes_of(path) if RULES[code].lint}

    assert {each.code for each in report.problems} == set(codes_of(path))
    assert lints
    assert without == set(codes_of(path)) - lints
    check_found(path, report)


@for_each_case("path", VALID, ids=name_of)
def test_valid_fixture_has_no_error_with_lint(path: Path) -> None:
    """No rule that is not checked by default makes a good file invalid."""
    report = report_on(path, lint=True)

    assert report.ok, report.problems


@for_each_case("path", INVALID, ids=name_of)
def test_invalid_fixture(path: Path) -> None:
    """A bad file gives exactly the findings that its name says, each at its place.

    A fault in one line costs its own record and no other.
    """
    report = report_on(path)
    (count,) = report.files

    assert sorted(each.code for each in report.problems) == codes_of(path)
    assert not report.ok
    check_found(path, report)
    if path.suffix == ".jsonl":
        expected_counts = OTHER_EXPECTED_COUNTS.get(name_of(path), EXPECTED_COUNTS)
        assert (count.records, count.valid, count.invalid) == expected_counts


@for_each_case("path", ALL, ids=name_of)
def test_fixture_is_recognised(path: Path) -> None:
    """A file is recognised as what it is, be it good or bad."""
    is_named = path in NAMED or format_of(path) in ANY_ROWS
    right = None if is_named else format_of(path)
    expected = NOT_RECOGNISED.get(name_of(path), right)

    assert validate(path, limit=1).files[0].format == expected
