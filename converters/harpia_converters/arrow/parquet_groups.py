"""How a row group of Parquet is read so that little of it is in memory at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from harpia_converters.arrow.limits import (
    BYTES,
    DICTIONARIES,
    HELD,
    ROWS,
    BadTableError,
    megabytes,
)
from harpia_converters.arrow.parquet_footer import Chunk, Group
from harpia_converters.arrow.parquet_pages import Pages, longest_text, pages_of
from harpia_formats.files.arrow.package import load_pyarrow

#: Bytes that a column may have beyond those in the footer, as old writers left out the
#: header of the dictionary (PARQUET-816).
_UNCOUNTED = 100
_MAGIC = 4
#: Items of lists in a row group that are held, if all of them were in one row, and how
#: many there may be for each of its bytes otherwise.
_ITEMS, _ITEMS_OF_BYTE = HELD // 16, 8
_mend = "write it again with smaller pages or row groups"


@dataclass(slots=True)
class GroupPlan:
    """How a row group is read."""

    #: Rows that are read at once.
    rows: int
    #: Columns whose values are not copied into each row that has them.
    dictionaries: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a row group."""

    path: str
    pages: Pages
    #: Bytes of its values in a row, on the average of the longest ones.
    width: int
    #: Whether its values are texts or bytes of any length.
    is_bytes: bool
    #: The name of the compression, None if it is not known.
    codec: str | None


def group_plan(file: BinaryIO, end: int, schema: Any, group: Group) -> GroupPlan:
    """Return how a row group is read, whose pages end at `end` of the file at latest.

    Raises `BadTableError` if it is corrupt, or cannot be read in bounded memory.
    """
    columns = [*_columns(file, end, schema, group)]
    held = sum(one.pages.largest + one.pages.stored for one in columns)
    dictionaries = sum(one.pages.dictionary for one in columns)
    if held > 2 * HELD or any(one.pages.largest > HELD for one in columns):
        reason = f"has open pages of {megabytes(held)}, and {megabytes(HELD)} are held"
        raise BadTableError(f"{reason}; {_mend}")
    if dictionaries > DICTIONARIES:
        reason = f"has dictionaries of {megabytes(dictionaries)}, and"
        raise BadTableError(f"{reason} {megabytes(DICTIONARIES)} are held; {_mend}")
    width = max(1, sum(one.width for one in columns))
    rows = max(1, min(ROWS, BYTES // width))
    for one in columns:
        if one.pages.shares_beginnings and one.pages.largest:
            rows = max(1, min(rows, HELD // one.pages.largest))
    plan = GroupPlan(rows)
    most = HELD // rows // max(1, len(columns))
    for one in columns:
        if one.is_bytes and one.pages.dictionary > most < _longest(file, one):
            plan.dictionaries.append(one.path)
    return plan


def _columns(file: BinaryIO, end: int, schema: Any, group: Group) -> Iterator[_Column]:
    """Yield what is known of the columns of a row group; raises `BadTableError`."""
    if len(group) != len(schema):
        raise BadTableError("has another number of columns than the table")
    for number, chunk in enumerate(group.chunks()):
        kind = schema.column(number)
        start, size = chunk.start, chunk.stored
        if start < _MAGIC or size < 0 or start + size > end:
            raise BadTableError("has a column outside of the file")
        most = min(size + _UNCOUNTED, end - start)
        pages = pages_of(file, start, most, chunk.values)
        if chunk.codec == "":
            pages.stored = 0  # it is what is decoded
        width = max(pages.width, 0, kind.length)
        if kind.max_repetition_level:
            _check_items(chunk, group.rows, pages)
            width = max(width, chunk.decoded // group.rows)
        is_bytes = kind.physical_type == "BYTE_ARRAY"
        yield _Column(kind.path, pages, width, is_bytes, chunk.codec)


def _longest(file: BinaryIO, column: _Column) -> int:
    """Return the bytes of the longest text of a dictionary, or those of all of it.

    It takes longer to read a column as a dictionary, as each batch has all of it.
    """
    pa = load_pyarrow()
    begin, end = column.pages.dictionary_at
    file.seek(begin)
    data = file.read(end - begin)
    if column.codec is None:
        return column.pages.dictionary
    try:
        if column.codec:
            codec = pa.Codec(column.codec)
            data = codec.decompress(data, column.pages.dictionary, asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return column.pages.dictionary
    return longest_text(data)


def _check_items(chunk: Chunk, rows: int, pages: Pages) -> None:
    """Raise `BadTableError` if so many items cannot be in so few bytes.

    A row may hold all items of a row group, and a null in a list takes no bytes.
    """
    items = chunk.values - rows
    most = _ITEMS_OF_BYTE * (chunk.stored + pages.dictionary)
    if items > max(_ITEMS, most):
        raise BadTableError(
            f"is a decompression bomb: {chunk.stored:,} bytes become {items:,} items"
        )
