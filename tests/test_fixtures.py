import json
import re
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Place, Problem, validate
from harpia_formats.registry import all_formats

FIXTURES = Path(__file__).parents[1] / "fixtures"
VALID = sorted(FIXTURES.glob("*/valid/*"))
INVALID = sorted(FIXTURES.glob("*/invalid/*"))
#: Rules on text that does not parse: their places have no pointer.
TEXT = re.compile("J10[1-46-9]")
#: Rules whose place is a key.
AT_KEY = {"S103", "S104", "J105"}


def name_of(path: Path) -> str:
    """Return what a fixture is called in the output of the tests."""
    return f"{format_of(path)}/{path.stem}"


def format_of(path: Path) -> str:
    """Return the format that a fixture is for."""
    return path.parent.parent.name


def found_in(path: Path) -> tuple[Problem, ...]:
    """Return every problem of a fixture, judged by its own format."""
    report = validate(path, format=format_of(path), examples=0, max_problems=0)
    assert not report.failures
    return report.problems


def problems_of(paths: list[Path]) -> list[Any]:
    """Return a parameter for each problem of each fixture."""
    return [
        pytest.param(path, each, id=f"{name_of(path)}:{each.place.line}")
        for path in paths
        for each in found_in(path)
    ]


def value_at(row: Any, pointer: str) -> Any:
    """Return the value at a pointer of `row`."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        row = row[int(key) if isinstance(row, list) else key]
    return row


def row_at(path: Path, place: Place) -> Any:
    """Return the record that a place is in, read in the plainest way."""
    text = path.read_bytes()
    if path.suffix == ".jsonl":
        return json.loads(text.split(b"\n")[place.line - 1])
    whole = json.loads(text)
    return whole[(place.record or 0) - 1] if isinstance(whole, list) else whole


def test_there_are_fixtures_of_every_format() -> None:
    """Every record format has good files and bad ones."""
    formats = set(all_formats())

    assert {format_of(each) for each in VALID} == formats
    assert {format_of(each) for each in INVALID} == formats


@pytest.mark.parametrize("path", VALID, ids=name_of)
def test_valid_fixture_has_no_error(path: Path) -> None:
    """A good file has no error when it is held to its format."""
    report = validate(path, format=format_of(path))

    assert report.ok, report.problems
    assert report.files[0].records == report.files[0].valid > 0


@pytest.mark.parametrize("path", VALID, ids=name_of)
def test_valid_fixture_is_recognised(path: Path) -> None:
    """A good file is recognised as what it is."""
    assert validate(path).files[0].format == format_of(path)


@pytest.mark.parametrize("path", INVALID, ids=name_of)
def test_invalid_fixture_gives_the_codes_in_its_name(path: Path) -> None:
    """A bad file gives exactly the findings that its name says, and no others."""
    codes = path.name.split("-")[0].split("+")

    assert sorted(each.code for each in found_in(path)) == codes


@pytest.mark.parametrize(
    "path", [each for each in INVALID if each.suffix == ".jsonl"], ids=name_of
)
def test_rows_around_a_fault_are_judged(path: Path) -> None:
    """A fault costs its own record and no other."""
    (count,) = validate(path, format=format_of(path)).files

    assert (count.records, count.valid, count.invalid) == (3, 2, 1)


@pytest.mark.parametrize(("path", "problem"), problems_of(INVALID))
def test_place_is_where_it_says(path: Path, problem: Problem) -> None:
    """Line, column and byte offset of a finding are one place inside the file."""
    text, place = path.read_bytes(), problem.place
    before = text[: place.byte_offset].decode("utf-8", "replace")

    assert 0 <= place.byte_offset <= len(text)
    assert place.line == before.count("\n") + 1
    assert place.column == len(before.rpartition("\n")[2]) + 1
    assert place.end_column > place.column


@pytest.mark.parametrize(
    ("path", "problem"),
    [each for each in problems_of(INVALID) if not TEXT.match(each.values[1].code)],
)
def test_place_is_what_the_pointer_says(path: Path, problem: Problem) -> None:
    """What stands at a place is the key or the value that the pointer leads to."""
    there = path.read_bytes()[problem.place.byte_offset :].decode()
    row = row_at(path, problem.place)
    key = problem.place.pointer.rpartition("/")[2]

    shown, _ = json.JSONDecoder().raw_decode(there)
    value = value_at(row, problem.place.pointer)

    assert shown == (key if problem.code in AT_KEY else value)


@pytest.mark.parametrize(("path", "problem"), problems_of(INVALID))
def test_reasons_are_where_they_say(path: Path, problem: Problem) -> None:
    """What made a rule apply stands at the line and column that are given for it."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    for each in problem.because:
        there = lines[each.line - 1][each.column - 1 :]
        shown, _ = json.JSONDecoder().raw_decode(there)
        expected = value_at(row_at(path, problem.place), each.pointer)

        if problem.code == "J105":
            assert shown == each.pointer.rpartition("/")[2]
        else:
            assert json.dumps(shown) == json.dumps(expected) == each.value
