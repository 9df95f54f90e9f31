from pathlib import Path
from typing import Any

import msgspec
import pytest

from harpia_formats.format import Format
from harpia_formats.framing import Chunk, Cursor, Flaw
from harpia_formats.recognition import (
    HEAD_BYTES,
    HEAD_RECORDS,
    Recognition,
    head_of,
    recognise,
    recognise_as,
    values_in,
)
from harpia_formats.registry import formats_named

FIXTURES = Path(__file__).parents[1] / "fixtures"
FAMILY = formats_named("eee")
SEED, TAG, CURRENT = FAMILY


def records_of(format_: Format) -> list[Any]:
    """Return some valid records of a shape."""
    text = (FIXTURES / format_.id / "valid" / "runs.jsonl").read_bytes()
    return [msgspec.json.decode(each) for each in text.splitlines()]


def chunk_of(*rows: bytes) -> Chunk:
    """Return a chunk of rows."""
    return Chunk(b"\n".join(rows), Cursor(), list(rows))


def test_head_holds_enough_records() -> None:
    """The head ends with the frame that makes it long enough, flaws not counted."""
    flaw, chunk = Flaw("bom", Cursor()), chunk_of(*[b"{}"] * 400)
    frames: list[Chunk | Flaw] = [flaw, *[chunk] * 9]
    flow = iter(frames)

    assert list(head_of(flow)) == [flaw, chunk, chunk, chunk]
    assert 2 * len(chunk) < HEAD_RECORDS <= 3 * len(chunk)
    assert len(list(flow)) == 6


def test_head_is_bounded_in_bytes() -> None:
    """A few rows of megabytes are enough, lest too much is held."""
    chunk = chunk_of(b"x" * (HEAD_BYTES // 2))

    assert len(list(head_of(iter([chunk] * 9)))) == 2


def test_head_of_a_short_file_is_all_of_it() -> None:
    """A file with few records is its own head."""
    assert list(head_of(iter([]))) == []


def test_values_are_the_rows_that_parse() -> None:
    """Rows that do not parse, at whatever depth, and flaws have no values."""
    deep = b"[" * 100_000 + b"]" * 100_000
    chunk = chunk_of(b'{"a": 1}', b"{", b"", b"\xff", b'"\xff"', deep, b"NaN", b"2")

    assert list(values_in(chunk)) == [{"a": 1}, 2]
    assert list(values_in(Flaw("bom", Cursor()))) == []


def test_first_format_is_taken_without_a_word() -> None:
    """What has the shape that comes first in the table needs no remark."""
    assert recognise(records_of(SEED), FAMILY) == Recognition(SEED)


@pytest.mark.parametrize("shape", [TAG, CURRENT], ids=lambda each: each.id)
def test_other_versions_are_taken_and_told(shape: Format) -> None:
    """Another version is taken, and the remark says by what sign."""
    found = recognise(records_of(shape), FAMILY)

    assert (found.format, found.code) == (shape, "S202")
    assert found.message.startswith(f"judged as {shape.id}: ")
    assert " records have " in found.message


def test_nothing_is_said_of_no_rows() -> None:
    """Where no row parses there is no format, and nothing to say of one."""
    assert recognise([], FAMILY) == Recognition()
    assert recognise_as([SEED], [], FAMILY) == Recognition(SEED)


def test_unknown_records_are_told_what_they_lack() -> None:
    """Of an unknown format it is said which keys the nearest one asks for."""
    found = recognise([{"input": {}, "evaluation": {}}, {}], FAMILY)

    assert (found.format, found.code) == (None, "S301")
    assert found.help.startswith(
        "for eee@0.2.0 the first record lacks schema_version, evaluation_id, "
    )
    assert "input," not in found.help


@pytest.mark.parametrize("rows", [[], [{}], [3]])
def test_asked_format_is_taken_for_anything(rows: list[Any]) -> None:
    """Where a format is asked for, unknown records are judged by it."""
    assert recognise_as([TAG], rows, FAMILY) == Recognition(TAG)
    assert recognise_as(FAMILY, rows, FAMILY) == Recognition(SEED)


def test_family_that_is_asked_for_is_told_apart() -> None:
    """Where a family is asked for, its versions are told apart as without."""
    rows = records_of(CURRENT)

    assert recognise_as(FAMILY, rows, FAMILY) == recognise(rows, FAMILY)


def test_other_shape_is_told_once() -> None:
    """Where one version is asked for and most records are of another, it is said."""
    found = recognise_as([SEED], records_of(CURRENT), FAMILY)

    assert (found.format, found.code) == (SEED, "S201")
    assert found.message.startswith("the file is eee@0.3.0, not eee@0.2.0: ")


def test_other_shape_that_is_valid_is_no_matter() -> None:
    """Records with the sign of another version may be valid in the one asked for."""
    rows = [each for each in records_of(SEED) if each["interaction_type"] == "agentic"]

    assert rows
    assert recognise_as([TAG], rows, FAMILY) == Recognition(TAG)


@pytest.mark.parametrize(("others", "code"), [(1, ""), (2, ""), (3, "S201")])
def test_other_shape_needs_more_than_half(others: int, code: str) -> None:
    """Half of the records in another version are not the file as a whole."""
    rows = records_of(CURRENT)[:1] * others + [{}] * 2

    assert recognise_as([SEED], rows, FAMILY).code == code
