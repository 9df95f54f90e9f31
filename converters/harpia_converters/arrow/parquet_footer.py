"""What the footer of a Parquet file says of the columns of its row groups.

pyarrow ends the process where it is asked for the metadata of a column that is corrupt.

Source: `src/main/thrift/parquet.thrift` of apache/parquet-format.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from harpia_converters.arrow.limits import BadTableError
from harpia_converters.arrow.thrift_compact import BadStructureError, Compact

#: Members of the footer, of a row group, and of a column.
_GROUPS, _COLUMNS, _ROWS, _METADATA = 4, 1, 3, 3
_LIST, _STRUCTURE = 9, 12
#: Members of the metadata of a column, in the order of `Chunk`.
_numbers = 4, 5, 6, 7, 9, 11
#: Names that pyarrow has for codecs, by their numbers; the old form of LZ4 has none.
_codecs = {0: "", 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}


class Chunk(NamedTuple):
    """The values of a column in a row group, as the footer describes them."""

    codec_number: int
    values: int
    #: Bytes of all pages decoded, and as they are stored.
    decoded: int
    stored: int
    #: Where the first page of values begins, and the dictionary, 0 without one.
    first_page: int
    dictionary: int

    @property
    def codec(self) -> str | None:
        """The name of the compression, "" for none, None if it is not known."""
        return _codecs.get(self.codec_number)

    @property
    def start(self) -> int:
        """Where the first page begins."""
        has_dictionary = 0 < self.dictionary < self.first_page
        return self.dictionary if has_dictionary else self.first_page


@dataclass(slots=True)
class Group:
    """A row group."""

    rows: int
    #: The members of the chunks, one behind the other: there may be many.
    numbers: "array[int]"

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.numbers) // len(Chunk._fields)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunk of each column."""
        width = len(Chunk._fields)
        for start in range(0, len(self.numbers), width):
            yield Chunk(*self.numbers[start : start + width])


def groups_of(footer: bytes) -> list[Group]:
    """Return the row groups that a footer describes.

    Raises `BadTableError` if it is corrupt, or describes columns that are encrypted.
    """
    reader, found = Compact(footer), []
    try:
        for number, kind in reader.members():
            if number == _GROUPS and kind == _LIST:
                found += [_group_of(reader, inside) for inside in reader.items()]
            else:
                reader.value(kind)
    except (BadStructureError, IndexError, OverflowError) as error:
        raise BadTableError("has a footer that is corrupt") from error
    return found


def _group_of(reader: Compact, kind: int) -> Group:
    """Return the row group that is next."""
    found = Group(0, array("q"))
    if kind != _STRUCTURE:
        raise BadStructureError
    for number, inside in reader.members():
        if number == _COLUMNS and inside == _LIST:
            for item in reader.items():
                found.numbers.extend(_chunk_of(reader.value(item)))
        else:
            value = reader.value(inside)
            if number == _ROWS and isinstance(value, int):
                found.rows = value
    return found


def _chunk_of(column: Any) -> Chunk:
    """Return the chunk that the structure of a column describes."""
    metadata = column.get(_METADATA) if isinstance(column, dict) else None
    if not isinstance(metadata, dict):
        raise BadTableError("has a column that is encrypted, or without metadata")
    numbers = [metadata.get(number, 0) for number in _numbers]
    if not all(isinstance(number, int) for number in numbers):
        raise BadStructureError
    return Chunk(*numbers)
