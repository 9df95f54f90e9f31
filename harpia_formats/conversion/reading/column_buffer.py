"""Store the columns of a file until all were read, and join them to rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from harpia_formats.conversion.reading.column_rows import ColumnRows, ItemBlock
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.io.spill import Framed, FramedRecords
from harpia_formats.model.problem import Path
from harpia_formats.validation.unit.record_numbers import RecordNumbers, RecordSet

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


@dataclass(slots=True)
class ColumnBuffer:
    """The items of all columns of a file, block by block in a temporary file.

    The items of a block are kept as they are in the file, so they are decoded at once.
    """

    #: The part of the store that each column is in.
    parts: dict[Path, int] = field(default_factory=dict)
    #: Records of which an item is not valid, or missing between others.
    invalid: RecordSet = field(default_factory=RecordSet)
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
        head = (*place, numbers.of(begin), len(part))
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

    def rows_of(self, component: Path) -> Iterator[ColumnRows]:
        """Yield the valid records of a component, adjacent ones together."""
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
            # Items are missing in between only if their records are not valid.
            number = max(number, *(each.block.first for each in rest.values()))
            end = min(number + ROWS, *(each.block.behind for each in rest.values()))
            blocks = [each.block for each in rest.values()]
            for first, behind in self._valid_between(number, end):
                yield ColumnRows(list(rest), blocks, first, behind)
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


def _no_items() -> ItemBlock:
    """Return a block in front of the first item."""
    return ItemBlock(Chunk(b"", Cursor(), []), 1)


@dataclass(slots=True)
class _ColumnReader:
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
