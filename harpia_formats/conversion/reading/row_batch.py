"""Decoded rows of a file that are read as records together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import Row
from harpia_formats.validation.unit.record_numbers import RecordNumbers


@dataclass(frozen=True, slots=True)
class ColumnItems:
    """The items of adjacent rows of columns, as they stand in the file."""

    #: The names of the columns, and of values that are the same in all rows.
    keys: tuple[str, ...]
    others: tuple[Any, ...]
    #: The inside of an array with the items of each column, and maybe further ones.
    texts: tuple[bytes, ...]
    #: Which of them are those of the rows.
    slices: tuple[tuple[int, int], ...]
    #: About the bytes of the latter.
    size: int


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Valid rows of a file, decoded, in order; not all of them need be adjacent.

    Bytes and places are computed when they are asked for, since most rows are converted
    without them.
    """

    #: The rows, as the adapter of their format reads them.
    values: Sequence[Row]
    #: The number in the file of the record that each row is.
    numbers: Sequence[int]
    #: Returns where in the file row n of the batch, from 0, begins.
    start_of: Callable[[int], Cursor]
    #: Returns the bytes of row n of the batch, from 0.
    text_of: Callable[[int], bytes]
    #: What the rows are made of, if they are those of columns.
    columns: tuple[ColumnItems, ...] = ()


class LazyRows(Sequence[Row]):
    """Rows that are made when they are asked for."""

    def __init__(self, count: int, make: Callable[[], list[Row]]) -> None:
        """Take their number, and the function that makes them, which is called once."""
        self._count = count
        self._make = make
        self._made: list[Row] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    @property
    def _rows(self) -> list[Row]:
        if self._made is None:
            self._made = self._make()
        return self._made


@dataclass(frozen=True, slots=True)
class DecodedChunk:
    """The rows of a chunk, all of them valid, as a typed decoder decoded them."""

    chunk: Chunk
    numbers: RecordNumbers
    values: Sequence[Any]
    decoder: TypedDecoder
