"""Make rows of the items of columns, in this process or in another one.

To another process items go as they stand in the file: it is the one that decodes them.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import Any

from harpia_formats.conversion.reading.row_batch import ColumnItems, LazyRows, RowBatch
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, encode

#: Bytes of items whose rows are joined.
JOINED = 2 * 1024 * 1024


@dataclass(slots=True)
class ItemBlock:
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


@dataclass(slots=True)
class ColumnRows:
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
    """Return the rows of a batch for `decoded_rows`, in any process."""
    if not batch.columns:
        return encode([*batch.values])
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
    if isinstance(found, list):
        return found
    blocks, rows = found["items"], []
    for keys, others, numbers, slices in found["rows"]:
        items = [
            blocks[number][begin:end]
            for number, (begin, end) in zip(numbers, slices, strict=True)
        ]
        rows += _rows_of(keys, items, others)
    return rows


def joined_batches(batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
    """Yield batches of columns with about `JOINED` bytes, and others as they are.

    Blocks of items are sent with each batch that has some of them, so these are large.
    """
    held: list[RowBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += sum(each.size for each in batch.columns)
        if size >= JOINED or not batch.columns:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(batches: Sequence[RowBatch]) -> RowBatch:
    """Return the rows of several batches as one."""
    if len(batches) == 1:
        return batches[0]
    columns = [each.columns for each in batches]
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
        tuple(chain.from_iterable(columns)) if all(columns) else (),
    )
