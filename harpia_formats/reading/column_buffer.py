"""Store the columns of a file until all were read, and join them to rows."""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import Path
from harpia_formats.reading.row_batch import RowBatch
from harpia_formats.validation.unit.record_numbers import RecordNumbers, RecordSet

#: Bytes that the temporary file holds in memory.
HELD = 4 * 1024 * 1024
#: Rows that are joined at once, at most.
ROWS = 1000
#: Written before each block of items: where the first one begins in the file (offset,
#: line, column), its record number, the number of items, and their bytes.
_head = struct.Struct("<QQQQQQ")


def _spooled_file() -> IO[bytes]:
    """Return a temporary file, which `ColumnBuffer.close` deletes."""
    return SpooledTemporaryFile(HELD)


@dataclass(slots=True)
class ColumnRows:
    """Adjacent rows of columns that all have items for them."""

    names: Sequence[str]
    #: The decoded items of each column.
    columns: Sequence[Sequence[Any]]
    #: The number of the first row, from 1.
    first: int
    #: The items of the first column, and the number of the first of them.
    chunk: Chunk
    chunk_first: int

    def batch(self, keys: tuple[str, ...], more: Row) -> RowBatch:
        """Return the rows with `keys` for their names and `more` fields in each."""
        columns = (*self.columns, *map(repeat, more.values()))
        values = _row_maker((*keys, *more))(columns)
        return RowBatch(
            values,
            range(self.first, self.first + len(values)),
            self._start_of,
            lambda index: encode(values[index]),
        )

    def _start_of(self, index: int) -> Cursor:
        """Return where the first item of a row begins."""
        return self.chunk.start_of(self.first + index - self.chunk_first)


@lru_cache(maxsize=32)
def _row_maker(keys: tuple[str, ...]) -> Callable[[Iterable[Iterable[Any]]], list[Row]]:
    """Return a function that returns the rows of columns with these keys.

    A row that is written as a literal takes half the time of `dict(zip(...))`.
    """
    names = [f"v{number}" for number in range(len(keys))]
    members = ", ".join(map("{!r}: {}".format, keys, names))
    items = ", ".join((*names, ""))
    text = f"lambda columns: [{{{members}}} for ({items}) in zip(*columns)]"
    # The keys in the text are literals of strings.
    maker: Callable[[Iterable[Iterable[Any]]], list[Row]] = eval(text)  # noqa: S307 - see above
    return maker


@dataclass(slots=True)
class ColumnBuffer:
    """The items of all columns of a file, block by block in a temporary file.

    The items of a block are kept as they are in the file, so they are decoded at once.
    """

    #: Where in the temporary file each column begins and ends.
    spans: dict[Path, range] = field(default_factory=dict)
    #: Records of which an item is not valid, or missing between others.
    invalid: RecordSet = field(default_factory=RecordSet)
    #: The blocks of items.
    file: IO[bytes] = field(default_factory=_spooled_file)
    _current: Path | None = None

    def begin(self, path: Path) -> None:
        """Start with the items of the column at `path`."""
        self._current = path
        at = self.file.tell()
        self.spans[path] = range(at, at)

    def add(
        self, chunk: Chunk, numbers: RecordNumbers, refused: frozenset[int]
    ) -> None:
        """Store the items of a chunk; a record with a refused item is not read."""
        begin = 0
        for row in sorted(refused):
            if row < len(chunk):
                self.invalid.add(numbers.of(row))
                self._write(chunk, numbers, begin, row)
                begin = row + 1
        self._write(chunk, numbers, begin, len(chunk))

    def _write(
        self, chunk: Chunk, numbers: RecordNumbers, begin: int, end: int
    ) -> None:
        """Store the items of a chunk from `begin` up to, not including, `end`."""
        if begin == end or self._current is None:
            return
        part = chunk
        if end - begin < len(chunk):
            part = chunk.between(begin, end)
        start, data = part.start, part.data
        place = start.offset, start.line, start.column
        head = _head.pack(*place, numbers.of(begin), len(part), len(data))
        self.file.write(head)
        self.file.write(data)
        span = self.spans[self._current]
        self.spans[self._current] = range(span.start, self.file.tell())

    def close(self) -> None:
        """Delete the items of all columns."""
        self.file.close()

    def components(self) -> list[Path]:
        """Return the paths of the objects that hold columns, in order."""
        return list(dict.fromkeys(path[:-1] for path in self.spans))

    def names_of(self, component: Path) -> list[str]:
        """Return the names of the columns of a component."""
        return [str(path[-1]) for path in self.spans if path[:-1] == component]

    def rows_of(self, component: Path) -> Iterator[ColumnRows]:
        """Yield the valid records of a component, adjacent ones together."""
        columns = {
            str(path[-1]): _ColumnReader(self.file, span.start, span.stop)
            for path, span in self.spans.items()
            if path[:-1] == component
        }
        number = 1
        while True:
            rest = {name: each for name, each in columns.items() if each.seek(number)}
            if not rest:
                return
            # Items are missing in between only if their records are not valid.
            number = max(number, *(each.first for each in rest.values()))
            end = min(number + ROWS, *(each.behind for each in rest.values()))
            for first, behind in self._valid_between(number, end):
                yield _joined(rest, first, behind)
            number = max(number, end)

    def _valid_between(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of records from `begin` to before `end` that are valid."""
        if not self.invalid.bits:
            if begin < end:
                yield begin, end
            return
        first = begin
        for number in range(begin, end):
            if number in self.invalid:
                if first < number:
                    yield first, number
                first = number + 1
        if first < end:
            yield first, end


@dataclass(slots=True)
class _ColumnReader:
    """Reads the blocks of a column in order."""

    file: IO[bytes]
    #: Where in the file the next block begins, and where the column ends.
    at: int
    end: int
    #: The number of the first item of the block, and the one behind its last.
    first: int = 1
    behind: int = 1
    chunk: Chunk = field(default_factory=lambda: Chunk(b"", Cursor(), []))
    _items: list[Any] | None = None

    def seek(self, number: int) -> bool:
        """Go to the block of item `number`, or the next; return False behind the last.

        It must not be before the block.
        """
        while self.behind <= number:
            if self.at >= self.end:
                return False
            self.file.seek(self.at)
            *place, first, count, size = _head.unpack(self.file.read(_head.size))
            self.chunk = Chunk(self.file.read(size), Cursor(*place), items=count)
            self.first, self.behind = first, first + count
            self.at += _head.size + size
            self._items = None
        return True

    def items(self, first: int, behind: int) -> list[Any]:
        """Return the decoded items from `first` up to, not including, `behind`."""
        if self._items is None:
            self._items = decode(b"".join((b"[", self.chunk.data, b"]")))
        return self._items[first - self.first : behind - self.first]


def _joined(columns: dict[str, _ColumnReader], first: int, behind: int) -> ColumnRows:
    """Return the rows `first` up to, not including, `behind` of some columns."""
    leading = next(iter(columns.values()))
    return ColumnRows(
        list(columns),
        [column.items(first, behind) for column in columns.values()],
        first,
        leading.chunk,
        leading.first,
    )
