"""Store the rows of a data set as they are, and read records of them when needed.

Rows that two data sets have in common are compared by their bytes: most of them are
never decoded again, and their places are never computed.
"""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from harpia_formats.conversion.comparison.record_partitions import (
    HELD_BYTES,
    StoredRecord,
)
from harpia_formats.conversion.mapping.chats import last_text_of
from harpia_formats.conversion.mapping.extra_fields import NO_SURROUNDINGS, ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import RowBatch, TableBatch
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.io.spill import FramedRecords
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import decode, decoder_of, encode
from harpia_formats.model.record import Record
from harpia_formats.validation.dedup.digests import digest_of
from harpia_formats.validation.diagnosis.row_context import id_of
from harpia_formats.validation.unit.findings import RecordNumbers

#: Records that are stored together if they were read one by one, and their bytes.
_TOGETHER, _TOGETHER_BYTES = 256, 256 * 1024
#: Rows that are compared at once.
_MOST_TEXTS = 1024
#: Records of a block of a table that are cut into fields one by one.
_FEW = 2
#: Bytes of the objects of a record that waits, without its texts.
_RECORD = 600
#: The place of a record: the index of its source, line, column, offset in bytes, and
#: its number. The id that its row has stands behind it as JSON.
PLACE = struct.Struct("<IQQQQ")
#: What the rows of a block are: lines, items of an array, texts at places of their own,
#: records with the ids of their rows, or records of a table.
LINES, _ITEMS, _PLACED, _RECORDS, _TABLE = range(5)


class _IdAndRecord(Struct, array_like=True):
    """A record that was read alone, and the id that its row has."""

    row_id: str | int | None
    record: Raw


class _Question(Struct):
    """The fields of a record that it may be matched by."""

    id: Any = UNSET
    prompt: str | UnsetType = UNSET
    messages: list[dict[str, Any]] | UnsetType = UNSET


class _TableLayout(Struct, array_like=True, frozen=True):
    """How the records of a block of a table are read."""

    names: tuple[str, ...]
    delimiter: str
    #: Fields of each record.
    width: int
    csv_safe: bool
    drops_blank: bool

    def rows(self, data: bytes) -> list[dict[str, str]]:
        """Return the fields of each record.

        Raises `ValueError` if `data` is not cut at once.
        """
        from harpia_formats.files.parsing.csv_blocks import cut_block  # noqa: PLC0415 - only for tables: start-up time

        mark = self.delimiter.encode()
        block = cut_block(data, Cursor(), mark, self.width, csv_safe=self.csv_safe)
        if block is None:
            raise ValueError("records are not cut as they were before")
        return block.rows(self.names, drops_blank=self.drops_blank)


def _table_texts(data: bytes, count: int) -> list[bytes]:
    """Return the bytes of so many whole records of a table, without their newlines."""
    lines = data.split(b"\n")
    del lines[-1]
    if len(lines) == count:
        return lines
    texts, held = list[bytes](), list[bytes]()
    is_open = False
    for line in lines:
        held.append(line)
        # A newline is inside of a field after an odd number of quotes.
        is_open ^= line.count(b'"') % 2 == 1
        if not is_open:
            texts.append(b"\n".join(held))
            held = []
    return texts


_layout_of = msgspec.json.Decoder(_TableLayout).decode
_pair_of = msgspec.json.Decoder(_IdAndRecord).decode
_question_of = decoder_of(_Question).decode


class RowSource(Struct, frozen=True):
    """The file of some rows, and how they are read."""

    path: str
    variant: FormatVariant
    #: Reads a row, with what stands around the rows.
    read: ReadRow = lambda row: Record(**row)
    around: Mapping[str, Any] = NO_SURROUNDINGS

    def reads_like(self, other: "RowSource") -> bool:
        """Tell whether rows with equal bytes are equal records in both files."""
        one, two = self.variant, other.variant
        is_one_format = one.format is two.format and one.dialect == two.dialect
        return is_one_format and self.around == other.around


class BlockHead(NamedTuple):
    """What is known of the rows of a block."""

    #: The number of their source.
    source: int
    kind: int
    rows: int
    #: The number in the file before that of the first record; of rows whose places are
    #: stored, what is added to the number of each.
    before: int
    #: The place of the first row; of rows whose places are stored, only how many lines
    #: are added to that of each.
    offset: int = 0
    line: int = 0
    column: int = 0


#: The head of a block, its rows, and how a table is read or, of other rows, their
#: numbers and places, if these do not follow from those of the first one. Whoever moves
#: it behind other rows adds their number to `before` and their lines to `line`.
Block = tuple[BlockHead, bytes, bytes]


def is_of_chunk(block: Block, size: int, rows: int) -> bool:
    """Tell whether a block is a chunk of an array with so many bytes and rows."""
    head, data, _ = block
    return head.kind == _ITEMS and head.rows == rows and len(data) == size


class RowBlock:
    """Rows that were stored together, in the order of the file."""

    __slots__ = (
        "_chunk",
        "_known",
        "_starts",
        "_texts",
        "_values",
        "data",
        "first",
        "head",
        "is_raw",
        "more",
        "source",
    )

    def __init__(self, source: RowSource, first: int, block: Block) -> None:
        """Take the rows of a source behind `first` other records of the data set."""
        self.source = source
        self.first = first
        self.head, self.data, self.more = block
        head = self.head
        start = Cursor(head.offset, head.line, head.column)
        items = None if head.kind == LINES else head.rows
        self._chunk = Chunk(self.data, start, items=items)
        self._texts: Sequence[bytes] | None = None
        #: Whether the rows are records of a table as they are in the file.
        self.is_raw = head.kind == _TABLE
        #: The values of some of these, which were cut one by one, or of all.
        self._known: dict[int, Row] = {}
        self._values: list[Row] | None = None
        #: Where each of them begins in the file, once that was asked for: where all are
        #: asked for, lines are not counted from the first one for each.
        self._starts: Sequence[Cursor] = ()

    @property
    def texts(self) -> Sequence[bytes]:
        """The bytes of each row: JSON, or a record of a table without its newline."""
        if self._texts is None:
            if self.is_raw:
                self._texts = _table_texts(self.data, self.head.rows)
            else:
                self._texts = self._chunk.rows
        return self._texts

    def as_json(self) -> None:
        """Make JSON of the rows if they are records of a table."""
        if self.is_raw:
            self._texts = [*map(encode, self._all_values())]
            self.is_raw = False

    def has_equal_rows(self, other: "RowBlock") -> bool:
        """Tell whether rows with equal bytes are equal records in both blocks."""
        kinds = {self.head.kind, other.head.kind}
        return kinds == {_RECORDS} or (
            _RECORDS not in kinds and self.source.reads_like(other.source)
        )

    def equals(self, other: "RowBlock") -> bool:
        """Tell whether two blocks have equal bytes, and so equal rows."""
        ours, theirs = self.head, other.head
        is_alike = ours.kind == theirs.kind and ours.rows == theirs.rows
        if ours.kind == _TABLE:
            is_alike = is_alike and self.more == other.more
        return is_alike and self.data == other.data

    def compare_as(self, other: "RowBlock") -> None:
        """Make JSON of the rows of both blocks unless they are written alike."""
        if self.is_raw != other.is_raw or (self.is_raw and self.more != other.more):
            self.as_json()
            other.as_json()

    def record(self, row: int, *, by_id: bool) -> "RowRecord":
        """Return the record of a row, which is matched by its id or by its prompt."""
        if self.head.kind == _RECORDS:
            pair = _pair_of(self.texts[row])
            row_id, record = pair.row_id, bytes(pair.record)
            question: Record | _Question = _question_of(record)
        else:
            value = self.value(row)
            row_id = id_of(value, self.source.variant.format.id_key)
            question = self.source.read(value)
            record = encode(question)
        key = f"={question.id}" if by_id else _prompt_of(question)
        return RowRecord(self, row, key, record, row_id)

    def value(self, row: int) -> Any:
        """Return a row as the adapter of its format reads it."""
        if self.head.kind != _TABLE:
            return decode(self.texts[row])
        if self._values is not None:
            return self._values[row]
        if row not in self._known:
            # To cut all records at once takes less time than to cut many alone.
            if len(self._known) == _FEW:
                return self._all_values()[row]
            try:
                (value,) = _layout_of(self.more).rows(self.texts[row] + b"\n")
            except ValueError:
                return self._all_values()[row]
            self._known[row] = value
        return self._known[row]

    def _all_values(self) -> list[Row]:
        """Return all records of a table as the adapter of its format reads them."""
        if self._values is None:
            self._values = _layout_of(self.more).rows(self.data)
        return self._values

    def place_of(self, row: int) -> tuple[int, Cursor]:
        """Return the number in the file of the record in a row, and its place."""
        head = self.head
        number = head.before + row + 1
        if head.kind == _TABLE:
            if not self._starts:
                self._starts = [*self._table_starts()]
            return number, self._starts[row]
        if self.more:
            return _place_at(self.more, head, row)
        return number, self._chunk.start_of(row)

    def _table_starts(self) -> Iterator[Cursor]:
        """Yield where each record of a table begins in the file."""
        at, line, column = self.head.offset, self.head.line, self.head.column
        for text in _table_texts(self.data, self.head.rows):
            yield Cursor(at, line, column)
            at, line, column = at + len(text) + 1, line + 1 + text.count(b"\n"), 0


class RowRecord(NamedTuple):
    """The record of a row of a block, whose place is computed when it is asked for."""

    block: RowBlock
    row: int
    #: The text that it is matched by.
    key: str
    #: Its JSON text.
    text: bytes
    #: The id that its row has.
    row_id: Any

    @property
    def number(self) -> int:
        """The number of the record in its data set."""
        return self.block.first + self.row

    @property
    def digest(self) -> int:
        """The digest of its key."""
        return digest_of(self.key)

    @property
    def place(self) -> bytes:
        """Its place, packed."""
        number, start = self.block.place_of(self.row)
        place = start.line, start.column, start.offset, number
        return PLACE.pack(self.block.head.source, *place) + encode(self.row_id)

    def stored(self) -> StoredRecord:
        """Return the record without its block, which takes memory."""
        return StoredRecord(
            self.number, self.key, self.digest, self.place, self.text, 0
        )


def _prompt_of(record: Record | _Question) -> str:
    """Return the text by which a record is matched by its prompt."""
    prompt: Any = record.prompt
    if prompt is UNSET:
        prompt = last_text_of(record.messages or [], "user")
    return "?" if prompt is UNSET else f"={prompt}"


class RowBlocks:
    """Makes blocks of the rows of files, and passes them to `append`."""

    __slots__ = ("_append", "_held", "_held_bytes", "_places", "sources")

    def __init__(self, append: Callable[[Block], None]) -> None:
        self._append = append
        self.sources: list[RowSource] = []
        #: Records that were added one by one, and their numbers and places.
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._places = array("Q")

    def begin(self, source: RowSource) -> None:
        """Take the rows of another source from now on."""
        self.flush()
        self.sources.append(source)

    def add_chunk(self, chunk: Chunk, numbers: RecordNumbers) -> None:
        """Add the rows of a chunk, none of which is blank."""
        if type(chunk) is not Chunk or not (chunk.lines or chunk.is_array):
            numbers_of = map(numbers.of, range(len(chunk)))
            self._add_placed(chunk.rows, numbers_of, chunk.start_of)
            return
        self.flush()
        kind, start = LINES if chunk.lines else _ITEMS, chunk.start
        place = numbers.of(0) - 1, start.offset, start.line, start.column
        self._append(
            (BlockHead(self._index, kind, len(chunk), *place), chunk.data, b"")
        )

    def add_batch(self, batch: RowBatch) -> None:
        """Add decoded rows, those of a table as they are in the file."""
        if batch.table is not None:
            self._add_table(batch.table, batch.numbers[0] - 1)
            return
        self._add_placed([*map(encode, batch.values)], batch.numbers, batch.start_of)

    def _add_table(self, table: TableBatch, before: int) -> None:
        """Add records of a table behind `before` others of the file."""
        self.flush()
        block = table.block
        start = block.start
        place = before, start.offset, start.line, start.column
        layout = _TableLayout(
            table.names,
            block.delimiter,
            block.width,
            block.csv_safe,
            table.drops_blank,
        )
        head = BlockHead(self._index, _TABLE, block.count, *place)
        self._append((head, block.data, encode(layout)))

    def add_record(self, record: Record, placed: PlacedRecord) -> None:
        """Add a record that was read alone."""
        text = encode([placed.row_id, record])
        self._held.append(text)
        self._held_bytes += len(text)
        _add_place(self._places, placed.number, placed.start)
        if len(self._held) >= _TOGETHER or self._held_bytes >= _TOGETHER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Make a block of the records that wait."""
        if self._held:
            texts, places = self._held, self._places
            self._held, self._held_bytes, self._places = [], 0, array("Q")
            self._add(_RECORDS, texts, places)

    @property
    def _index(self) -> int:
        """The number of the source of the rows that come."""
        return len(self.sources) - 1

    def _add_placed(
        self,
        texts: Sequence[bytes],
        numbers: Iterable[int],
        start_of: Callable[[int], Cursor],
    ) -> None:
        """Add rows whose places do not follow from that of the first one."""
        self.flush()
        places = array("Q")
        for row, number in enumerate(numbers):
            _add_place(places, number, start_of(row))
        self._add(_PLACED, texts, places)

    def _add(self, kind: int, texts: Sequence[bytes], places: "array[int]") -> None:
        """Add rows with their places."""
        head = BlockHead(self._index, kind, len(texts), 0)
        self._append((head, b",".join(texts), places.tobytes()))


class StoredRows:
    """The rows of a data set in their order, most of them on the disk; to be closed."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks = FramedRecords("QQQQQQQ", 2, HELD_BYTES)

    def append(self, block: Block) -> None:
        """Add the rows of a block behind the others."""
        head, *fields = block
        self._blocks.append(head, tuple(fields))

    def blocks(self, sources: Sequence[RowSource]) -> Iterator[RowBlock]:
        """Yield all rows in the order in which they were added, with their source."""
        first = 0
        for _, numbers, (data, more) in self._blocks.records():
            head = BlockHead(*numbers)
            yield RowBlock(sources[head.source], first, (head, data, more))
            first += head.rows

    def close(self) -> None:
        """Delete the temporary file."""
        self._blocks.close()


#: The number of a record in its file, and the offset, line and column of its row.
_row_place = struct.Struct("=QQQQ")


def _add_place(places: "array[int]", number: int, start: Cursor) -> None:
    """Add the number of a record in its file and the place of its row."""
    places.extend((number, start.offset, start.line, start.column))


def _place_at(places: bytes, head: BlockHead, row: int) -> tuple[int, Cursor]:
    """Return the number and the place of a row, behind what stands before the block."""
    found = _row_place.unpack_from(places, row * _row_place.size)
    number, offset, line, column = found
    return head.before + number, Cursor(offset, head.line + line, column)


class WaitingRecords:
    """Records that the other side does not have yet, by their keys."""

    def __init__(self) -> None:
        #: About the bytes of memory that they take.
        self.size = 0
        #: Whether some had the key of another that waited.
        self.repeats = False
        self._records: dict[str, list[StoredRecord]] = {}

    def __bool__(self) -> bool:
        return bool(self._records)

    def add(self, record: StoredRecord) -> None:
        """Add a record behind those with the same key."""
        self.size += _size_of(record)
        records = self._records.setdefault(record.key, [])
        self.repeats = self.repeats or bool(records)
        records.append(record)

    def take(self, key: str) -> StoredRecord | None:
        """Remove the first record with a key, and return it, None if there is none."""
        records = self._records.get(key)
        if records is None:
            return None
        record = records.pop(0)
        if not records:
            del self._records[key]
        self.size -= _size_of(record)
        return record

    def take_all(self) -> list[StoredRecord]:
        """Remove all records, and return them in the order of their numbers."""
        found = sorted(
            chain.from_iterable(self._records.values()), key=attrgetter("number")
        )
        self._records.clear()
        self.size = 0
        return found


def _size_of(record: StoredRecord) -> int:
    """Return about how many bytes of memory a record takes, with what holds it."""
    return _RECORD + len(record.text) + len(record.key) + len(record.place)


class RowSequence:
    """The rows of a data set, from the first one that was not taken yet."""

    def __init__(
        self, rows: StoredRows, sources: Sequence[RowSource], *, by_id: bool
    ) -> None:
        """Read rows whose records are matched by their ids, or by their prompts."""
        self._blocks = rows.blocks(sources)
        self._by_id = by_id
        #: Records that were taken, and have no match yet.
        self.waiting = WaitingRecords()
        self._block: RowBlock | None = None
        #: The index of the next row in the block.
        self.at = 0

    @property
    def block(self) -> RowBlock | None:
        """The block of the next row, None behind the last one."""
        while self._block is None or self.at >= self._block.head.rows:
            self._block, self.at = next(self._blocks, None), 0
            if self._block is None:
                return None
        return self._block

    def take(self) -> RowRecord | None:
        """Take the record of the next row, None behind the last one."""
        block = self.block
        if block is None:
            return None
        self.at += 1
        return block.record(self.at - 1, by_id=self._by_id)

    def rest(self) -> Iterator[StoredRecord | RowRecord]:
        """Yield the records that wait, and take all further ones."""
        yield from self.waiting.take_all()
        while (record := self.take()) is not None:
            yield record

    def pass_equal(self, other: "RowSequence") -> int:
        """Pass over the next rows as far as they are equal records in both sequences.

        Returns how many these are. Equal rows of several files of one data set may not
        be equal records, as what stands around them may differ.
        """
        passed, width = 0, 1
        while (
            (ours := self.block) is not None
            and (theirs := other.block) is not None
            and ours.has_equal_rows(theirs)
        ):
            # Mostly the blocks of equal rows are equal, and need not be cut.
            if self.at == other.at == 0 and ours.equals(theirs):
                self.at = other.at = ours.head.rows
                passed += ours.head.rows
                continue
            # Lists are compared many times as fast as their items one by one; they get
            # longer, so that no more items are looked at than twice those passed.
            ours.compare_as(theirs)
            left = ours.texts[self.at : self.at + width]
            right = theirs.texts[other.at : other.at + width]
            count = min(len(left), len(right))
            is_equal = left[:count] == right[:count]
            if not is_equal:
                pairs = enumerate(zip(left, right, strict=False))
                count = next(at for at, (one, two) in pairs if one != two)
            self.at += count
            other.at += count
            passed += count
            if not is_equal:
                if not _is_written_otherwise(ours, theirs, self.at, other.at):
                    break
                ours.as_json()
                theirs.as_json()
            width = min(2 * width, _MOST_TEXTS)
        return passed


def _is_written_otherwise(
    ours: RowBlock, theirs: RowBlock, row: int, other_row: int
) -> bool:
    """Tell whether two records of tables, with other bytes, are equal rows."""
    if not (ours.is_raw and theirs.is_raw):
        return False
    return bool(encode(ours.value(row)) == encode(theirs.value(other_row)))
