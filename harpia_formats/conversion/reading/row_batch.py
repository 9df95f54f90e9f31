"""Decoded rows of a file that are read as records together, and those of columns.

Rows of columns are held until there are enough, joined, and encoded.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from harpia_formats.files.framing.chunk import JSON_SPACE, Chunk, Cursor
from harpia_formats.files.io.spill import Framed, FramedRecords
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.findings import RecordNumbers, RecordSet

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.files.parsing.csv_blocks import TableBlock


class ColumnItems(Struct, frozen=True):
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


class TableBatch(Struct, frozen=True):
    """Adjacent records of a table, and how they are read as rows."""

    block: "TableBlock"
    #: The keys of rows, one for each column.
    names: tuple[str, ...]
    #: Whether a field is left out that is blank without quotes.
    drops_blank: bool

    def rows(self) -> list[Row]:
        """Return the fields of each record by their names."""
        return self.block.rows(self.names, drops_blank=self.drops_blank)

    def texts_of(self, name: str) -> list[str] | None:
        """Return the texts of a column, blank ones too, None if there is none."""
        if name not in self.names:
            return None
        return self.block.column(self.names.index(name))


class RowBatch(Struct, frozen=True):
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
    #: What they are made of, if they are those of a table.
    table: TableBatch | None = None


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


class DecodedChunk(Struct, frozen=True):
    """The rows of a chunk, all of them valid, as a typed decoder decoded them."""

    chunk: Chunk
    numbers: RecordNumbers
    values: Sequence[Any]
    decoder: TypedDecoder


#: Bytes of items whose rows are joined.
JOINED = 2 * 1024 * 1024


class ItemBlock(Struct):
    """Adjacent items of a column."""

    chunk: Chunk
    #: The number of the first item.
    first: int
    _values: list[Any] | None = None

    @property
    def behind(self) -> int:
        """The number behind the last item."""
        return self.first + len(self.chunk)

    def size_of(self, items: int) -> int:
        """Return about how many bytes so many items have."""
        return len(self.chunk.data) * items // len(self.chunk)

    def values(self, first: int, behind: int) -> list[Any]:
        """Return the decoded items from `first` up to, not including, `behind`."""
        if self._values is None:
            self._values = decode(b"".join((b"[", self.chunk.data, b"]")))
        return self._values[first - self.first : behind - self.first]

    def text_of(self, number: int) -> bytes:
        """Return the bytes of an item, which need not be JSON if it is the only one."""
        if len(self.chunk) == 1:
            return self.chunk.data.strip(JSON_SPACE)
        return self.chunk.rows[number - self.first]


class ColumnRows(Struct):
    """Adjacent rows of columns that all have items for them."""

    names: Sequence[str]
    #: The block of each column.
    blocks: Sequence[ItemBlock]
    #: The number of the first row, from 1, and the one behind the last row.
    first: int
    behind: int

    def batch(self, keys: tuple[str, ...], more: Row) -> RowBatch:
        """Return the rows with `keys` for their names and `more` fields in each."""
        first, behind, blocks = self.first, self.behind, self.blocks
        keys, others = (*keys, *more), tuple(more.values())

        def rows() -> list[Row]:
            items = [block.values(first, behind) for block in blocks]
            return _rows_of(keys, items, others)

        values = LazyRows(behind - first, rows)
        return RowBatch(
            values,
            range(first, behind),
            self._start_of,
            lambda index: encode(values[index]),
            (
                ColumnItems(
                    keys,
                    others,
                    tuple(block.chunk.data for block in blocks),
                    tuple((first - each.first, behind - each.first) for each in blocks),
                    sum(block.size_of(behind - first) for block in blocks),
                ),
            ),
        )

    def refused(self, keys: tuple[str, ...], more: Row) -> Iterator[bytes | None]:
        """Yield each row as an object of its items, as they stand in the file.

        It is None for a row with an item that is longer than allowed. `keys` and `more`
        are those of `batch`.
        """
        names = [encode(key) for key in (*keys, *more)]
        others = [encode(value) for value in more.values()]
        for number in range(self.first, self.behind):
            texts = [block.text_of(number) for block in self.blocks]
            members = map(b":".join, zip(names, (*texts, *others), strict=True))
            yield b"{%b}" % b",".join(members) if all(texts) else None

    def _start_of(self, index: int) -> Cursor:
        """Return where the first item of a row begins."""
        leading = self.blocks[0]
        return leading.chunk.start_of(self.first + index - leading.first)


def _rows_of(
    keys: Sequence[str], items: Sequence[Sequence[Any]], others: Sequence[Any]
) -> list[Row]:
    """Return rows with an item of each list, and `others`, which all rows have."""
    return _row_maker(tuple(keys))((*items, *map(repeat, others)))


@lru_cache(maxsize=32)
def _row_maker(keys: tuple[str, ...]) -> Callable[[Iterable[Iterable[Any]]], list[Row]]:
    """Return a function that returns the rows of columns with these keys.

    It makes each row as a literal, without an iterator for each row.
    """
    names = [f"v{number}" for number in range(len(keys))]
    members = ", ".join(map("{!r}: {}".format, keys, names))
    items = ", ".join((*names, ""))
    text = f"lambda columns: [{{{members}}} for ({items}) in zip(*columns)]"
    # The keys in the text are literals of strings.
    maker: Callable[[Iterable[Iterable[Any]]], list[Row]] = eval(text)  # noqa: S307 - see above
    return maker


def encoded_rows(batch: RowBatch) -> bytes:
    """Return the rows of a batch of columns for `decoded_rows`, in any process."""
    places: dict[int, int] = {}
    texts: list[bytes] = []
    slices = []
    for each in batch.columns:
        for text in each.texts:
            # A block has rows of several batches, and is sent once.
            if places.setdefault(id(text), len(texts)) == len(texts):
                texts.append(text)
        numbers = [places[id(text)] for text in each.texts]
        slices.append([each.keys, each.others, numbers, each.slices])
    arrays = b"],[".join(texts)
    return b"".join((b'{"items":[[', arrays, b']],"rows":', encode(slices), b"}"))


def decoded_rows(data: bytes) -> list[Row]:
    """Return the rows that `encoded_rows` encoded."""
    found: Any = decode(data)
    blocks, rows = found["items"], []
    for keys, others, numbers, slices in found["rows"]:
        items = [
            blocks[number][begin:end]
            for number, (begin, end) in zip(numbers, slices, strict=True)
        ]
        rows += _rows_of(keys, items, others)
    return rows


def joined_batches(batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
    """Yield the rows of batches of columns in batches of about `JOINED` bytes.

    Blocks of items are sent with each batch that has some of them, so these are large.
    """
    held: list[RowBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += sum(each.size for each in batch.columns)
        if size >= JOINED:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(batches: Sequence[RowBatch]) -> RowBatch:
    """Return the rows of several batches of columns as one."""
    counts = [len(each.values) for each in batches]
    starts = [0, *accumulate(counts)][:-1]

    def of(index: int) -> tuple[RowBatch, int]:
        number = bisect_right(starts, index) - 1
        return batches[number], index - starts[number]

    def start_of(index: int) -> Cursor:
        batch, row = of(index)
        return batch.start_of(row)

    def text_of(index: int) -> bytes:
        batch, row = of(index)
        return batch.text_of(row)

    return RowBatch(
        LazyRows(sum(counts), lambda: [row for each in batches for row in each.values]),
        [number for each in batches for number in each.numbers],
        start_of,
        text_of,
        tuple(chain.from_iterable(each.columns for each in batches)),
    )


#: Bytes of items that are held in memory before they go to the disk.
HELD = 4 * 1024 * 1024
#: Rows that are joined at once, at most.
ROWS = 1000


def _blocks() -> FramedRecords:
    """Return a store of blocks of items, which `ColumnBuffer.close` deletes.

    The numbers of a block are where its first item begins in the file (offset, line,
    column), the record number of that, and the number of items.
    """
    return FramedRecords("QQQQQ", 1, HELD, parts=0)


class ColumnBuffer(Struct):
    """The items of all columns of a file, block by block in a temporary file.

    The items of a block are kept as they are in the file, so they are decoded at once.
    """

    #: The part of the store that each column is in.
    parts: dict[Path, int] = field(default_factory=dict)
    #: The records of each component of which an item is not valid.
    invalid: dict[Path, RecordSet] = field(default_factory=dict)
    blocks: FramedRecords = field(default_factory=_blocks)
    _current: Path | None = None

    def begin(self, path: Path) -> None:
        """Start with the items of the column at `path`."""
        self._current = path
        self.parts[path] = self.blocks.add_part()

    def add(
        self, chunk: Chunk, numbers: RecordNumbers, refused: frozenset[int]
    ) -> None:
        """Store the items of a chunk; a record with a refused item is not read."""
        begin = 0
        for row in sorted(refused):
            if row < len(chunk):
                self._write(chunk, numbers, begin, row)
                self.refuse(numbers.of(row), chunk.texts[row], chunk.start_of(row))
                begin = row + 1
        self._write(chunk, numbers, begin, len(chunk))

    def refuse(
        self, number: int, text: bytes = b"", start: Cursor | None = None
    ) -> None:
        """Store an item that is not valid, or no text of one longer than allowed."""
        if self._current is not None:
            self.invalid.setdefault(self._current[:-1], RecordSet()).add(number)
        self._append(start or Cursor(), number, 1, text)

    def _write(
        self, chunk: Chunk, numbers: RecordNumbers, begin: int, end: int
    ) -> None:
        """Store the items of a chunk from `begin` up to, not including, `end`."""
        if begin == end:
            return
        part = chunk
        if end - begin < len(chunk):
            part = chunk.between(begin, end)
        self._append(part.start, numbers.of(begin), len(part), part.data)

    def _append(self, start: Cursor, first: int, count: int, data: bytes) -> None:
        """Store so many items from item `first` on, as a block of their own."""
        if self._current is not None:
            head = start.offset, start.line, start.column, first, count
            self.blocks.append(head, (data,), self.parts[self._current])

    def close(self) -> None:
        """Delete the items of all columns."""
        self.blocks.close()

    def components(self) -> list[Path]:
        """Return the paths of the objects that hold columns, in order."""
        return list(dict.fromkeys(path[:-1] for path in self.parts))

    def names_of(self, component: Path) -> list[str]:
        """Return the names of the columns of a component."""
        return [str(path[-1]) for path in self.parts if path[:-1] == component]

    def rows_of(
        self, component: Path, *, refused: bool = False
    ) -> Iterator[ColumnRows]:
        """Yield the valid records of a component, or the others, adjacent together."""
        invalid = self.invalid.get(component, RecordSet())
        columns = {
            str(path[-1]): _ColumnReader(self.blocks.records(part))
            for path, part in self.parts.items()
            if path[:-1] == component
        }
        number = 1
        while True:
            rest = {name: each for name, each in columns.items() if each.seek(number)}
            if not rest:
                return
            end = min(number + ROWS, *(each.block.behind for each in rest.values()))
            blocks = [each.block for each in rest.values()]
            for first, behind in _between(number, end, invalid, refused=refused):
                yield ColumnRows(list(rest), blocks, first, behind)
            number = end


def _between(
    begin: int, end: int, invalid: RecordSet, *, refused: bool
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of valid records from `begin` to before `end`, or others."""
    if not (invalid.bits or refused):
        yield begin, end
        return
    first = begin
    for number in range(begin, end):
        if (number in invalid) is not refused:
            if first < number:
                yield first, number
            first = number + 1
    if first < end:
        yield first, end


class _ColumnReader(Struct):
    """Reads the blocks of a column in order."""

    blocks: Iterator[Framed]
    block: ItemBlock = field(
        default_factory=lambda: ItemBlock(Chunk(b"", Cursor(), []), 1)
    )

    def seek(self, number: int) -> bool:
        """Go to the block of item `number`, or the next; return False behind the last.

        It must not be before the block.
        """
        while self.block.behind <= number:
            found = next(self.blocks, None)
            if found is None:
                return False
            _, (*place, first, count), (data,) = found
            self.block = ItemBlock(Chunk(data, Cursor(*place), items=count), first)
        return True
