"""Store the rows of a data set as they are, and read records of them when needed.

Rows that two data sets have in common are compared by their bytes: most of them are
never decoded again, and their places are never computed.
"""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.io.spill import FramedRecords
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.exact_json import decode, decoder_of, encode
from harpia_formats.model.record import Record
from harpia_formats.validation.dedup.digests import digest_of
from harpia_formats.validation.diagnosis.row_context import id_of
from harpia_formats.validation.unit.findings import RecordNumbers

#: Records that are stored together if they were read one by one, and their bytes.
_TOGETHER, _TOGETHER_BYTES = 256, 256 * 1024
#: Rows that are compared at once.
_MOST_TEXTS = 1024
#: Bytes of the objects of a record that waits, without its texts.
_RECORD = 600
#: The place of a record: the index of its source, line, column, offset in bytes, and
#: its number. The id that its row has stands behind it as JSON.
PLACE = struct.Struct("<IQQQQ")
#: What the rows of a block are: lines, items of an array, texts at places of their own,
#: or records with the ids of their rows.
_LINES, _ITEMS, _PLACED, _RECORDS = range(4)


class _IdAndRecord(Struct, array_like=True):
    """A record that was read alone, and the id that its row has."""

    row_id: str | int | None
    record: Raw


class _Question(Struct):
    """The fields of a record that it may be matched by."""

    id: Any = UNSET
    prompt: str | UnsetType = UNSET
    messages: list[dict[str, Any]] | UnsetType = UNSET


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


class RowBlock(Struct):
    """Rows that were stored together, in the order of the file."""

    source: RowSource
    #: The number of the source in the data set.
    index: int
    kind: int
    #: The number in the data set of the first record, from 0.
    first: int
    #: The rows, as JSON.
    texts: Sequence[bytes]
    #: Returns the number in the file of the record in row n, from 0, and its place.
    place_of: Callable[[int], tuple[int, Cursor]]

    def has_equal_rows(self, other: "RowBlock") -> bool:
        """Tell whether rows with equal bytes are equal records in both blocks."""
        return self.kind == other.kind == _RECORDS or (
            _RECORDS not in {self.kind, other.kind}
            and self.source.reads_like(other.source)
        )

    def stored(self, row: int, *, by_id: bool) -> StoredRecord:
        """Return the record of a row, which is matched by its id or by its prompt."""
        text = self.texts[row]
        if self.kind == _RECORDS:
            pair = _pair_of(text)
            row_id, record = pair.row_id, bytes(pair.record)
            question: Record | _Question = _question_of(record)
        else:
            value = decode(text)
            row_id = id_of(value, self.source.variant.format.id_key)
            question = self.source.read(value)
            record = encode(question)
        key = f"={question.id}" if by_id else _prompt_of(question)
        number, start = self.place_of(row)
        place = PLACE.pack(self.index, start.line, start.column, start.offset, number)
        return StoredRecord(
            self.first + row, key, digest_of(key), place + encode(row_id), record, 0
        )


def _prompt_of(record: Record | _Question) -> str:
    """Return the text by which a record is matched by its prompt."""
    prompt: Any = record.prompt
    if prompt is UNSET:
        prompt = last_text_of(record.messages or [], "user")
    return "?" if prompt is UNSET else f"={prompt}"


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


#: The head of a block, its rows, and their numbers and places, if these do not follow
#: from those of the first one. Whoever moves it behind other rows adds their number to
#: `before` and their lines to `line`, in both cases.
Block = tuple[BlockHead, bytes, bytes]


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
        kind, start = _LINES if chunk.lines else _ITEMS, chunk.start
        place = numbers.of(0) - 1, start.offset, start.line, start.column
        self._append(
            (BlockHead(self._index, kind, len(chunk), *place), chunk.data, b"")
        )

    def add_batch(self, batch: RowBatch) -> None:
        """Add decoded rows."""
        self._add_placed([*map(encode, batch.values)], batch.numbers, batch.start_of)

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
        for _, numbers, (data, places) in self._blocks.records():
            head = BlockHead(*numbers)
            start = Cursor(head.offset, head.line, head.column)
            items = None if head.kind == _LINES else head.rows
            chunk = Chunk(data, start, items=items)
            place_of = partial(_place_in, chunk, head.before)
            if places:
                place_of = partial(_place_at, places, head)
            source = sources[head.source]
            yield RowBlock(source, head.source, head.kind, first, chunk.rows, place_of)
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


def _place_in(chunk: Chunk, before: int, row: int) -> tuple[int, Cursor]:
    """Return the number and the place of a row of a chunk without blank rows."""
    return before + row + 1, chunk.start_of(row)


class WaitingRecords:
    """Records that the other side does not have yet, by their keys."""

    def __init__(self) -> None:
        #: About the bytes of memory that they take.
        self.size = 0
        self._records: dict[str, list[StoredRecord]] = {}

    def __bool__(self) -> bool:
        return bool(self._records)

    def add(self, record: StoredRecord) -> None:
        """Add a record behind those with the same key."""
        self.size += _size_of(record)
        self._records.setdefault(record.key, []).append(record)

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
        while self._block is None or self.at >= len(self._block.texts):
            self._block, self.at = next(self._blocks, None), 0
            if self._block is None:
                return None
        return self._block

    def take(self) -> StoredRecord | None:
        """Take the record of the next row, None behind the last one."""
        block = self.block
        if block is None:
            return None
        self.at += 1
        return block.stored(self.at - 1, by_id=self._by_id)

    def rest(self) -> Iterator[StoredRecord]:
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
            # Lists are compared many times as fast as their items one by one; they get
            # longer, so that no more items are looked at than twice those passed.
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
                break
            width = min(2 * width, _MOST_TEXTS)
        return passed
