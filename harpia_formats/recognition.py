"""Recognise the format of a file from its head, and say what is odd about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.detection import choose
from harpia_formats.format import Format
from harpia_formats.framing import Chunk, Flaw, Frames
from harpia_formats.judge import referee_of
from harpia_formats.schema import Schema, built_in_schema

#: Records that a file's format is told from, and their bytes at most.
HEAD_RECORDS = 1_000
HEAD_BYTES = 8 * 1024 * 1024
#: The rule that says that a file has another shape than the one asked for.
OTHER_SHAPE = "S201"


@dataclass(frozen=True, slots=True)
class Recognition:
    """The format that a file is judged by, and what is to be said about that."""

    #: None if the file is in no known format.
    format: Format | None = None
    #: The rule that speaks, empty if none does.
    code: str = ""
    message: str = ""
    help: str = ""


def head_of(flow: Frames) -> Frames:
    """Yield frames until they hold enough records to tell a format from."""
    records = size = 0
    while records < HEAD_RECORDS and size < HEAD_BYTES:
        frame = next(flow, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def values_in(frame: Chunk | Flaw) -> Iterator[Any]:
    """Yield the rows of `frame` that parse."""
    for each in frame.rows if isinstance(frame, Chunk) else ():
        try:
            yield msgspec.json.decode(each)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue


def recognise(rows: Sequence[Any], formats: Sequence[Format]) -> Recognition:
    """Return which of `formats` the first `rows` of a file are in."""
    choice = choose(rows, formats)
    if choice is None:
        return _unknown(rows[0], formats) if rows else Recognition()
    if choice.format is formats[0]:
        return Recognition(choice.format)
    message = f"judged as {choice.format.id}: {choice}"
    help_ = "name a format with --format to hold the file to it"
    return Recognition(choice.format, "S202", message, help_)


def recognise_as(
    asked: Sequence[Format], rows: Sequence[Any], family: Sequence[Format]
) -> Recognition:
    """Return which of the formats `asked` for the first `rows` of a file are in.

    If they are in none of them it is the first all the same, and if they are in
    another one of its `family` the recognition says so.
    """
    if len(asked) == 1:
        return _other_shape(asked[0], rows, family) or Recognition(asked[0])
    found = recognise(rows, asked)
    return found if found.format is not None else Recognition(asked[0])


def _unknown(row: Any, formats: Sequence[Format]) -> Recognition:
    names = ", ".join(each.id for each in formats)
    nearest = formats[0].id
    help_ = (
        f"for {nearest} the first record {_lack(row, built_in_schema(nearest))}; "
        "name a format with --format or a schema with --schema"
    )
    message = f"no known format; the nearest are {names}"
    return Recognition(None, "S301", message, help_)


def _lack(row: Any, schema: Schema) -> str:
    """Return what keeps `row` from being a record by `schema`, as a predicate."""
    if not isinstance(row, dict):
        return "is not an object"
    required = schema.get("required", []) if isinstance(schema, dict) else []
    return "lacks " + ", ".join(each for each in required if each not in row)


def _other_shape(
    asked: Format, rows: Sequence[Any], family: Sequence[Format]
) -> Recognition | None:
    """Say that most records are invalid because the file is in another version."""
    choice = choose(rows, family)
    if choice is None or choice.format.id == asked.id:
        return None
    if 2 * min(_invalid(rows, asked), choice.alike) <= len(rows):
        return None
    other = choice.format.id
    message = f"the file is {other}, not {asked.id}: {choice}"
    help_ = f"validate it with --format {other}; what else is wrong with it "
    help_ += f"as {asked.id} is counted, not listed"
    return Recognition(asked, OTHER_SHAPE, message, help_)


def _invalid(rows: Sequence[Any], format_: Format) -> int:
    referee = referee_of(built_in_schema(format_.id))
    return sum(1 for each in rows if not referee.is_valid(each))
