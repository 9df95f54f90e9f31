"""Store the rows of a data set as they are, and read records of them when needed.

Rows that two data sets have in common are compared by their bytes: most of them are
never decoded again, and their places are never computed.
"""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

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
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.record import Record
from harpia_formats.validation.dedup.digests import digest_of
from harpia_formats.validation.diagnosis.row_context import id_of
from harpia_formats.validation.unit.findings import RecordNumbers

#: Records that are stored together if they were read one by one, and their bytes.
_TOGETHER, _TOGETHER_BYTES = 256, 256 * 1024
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
_question_of = msgspec.json.Decoder(_Question).decode


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


class StoredRows:
    """The rows of a data set in their order; to be closed."""

    __slots__ = ("_blocks", "_held", "_held_bytes", "_places", "count", "sources")

    def __init__(self) -> None:
        #: The rows that were added.
        self.count = 0
        self.sources: list[RowSource] = []
        #: The source, the kind, the number of rows, the number in the file before that
        #: of the first record, the place of the first one (offset, line, column); then
        #: the bytes, and numbers and places of rows where they do not follow from that.
        self._blocks = FramedRecords("QQQQQQQ", 2, HELD_BYTES)
        #: Records that were added one by one, and their numbers and places.
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._places = array("Q")

    def begin(self, source: RowSource) -> None:
        """Take the rows of another source from now on."""
        self._store_held()
        self.sources.append(source)

    def add_chunk(self, chunk: Chunk, numbers: RecordNumbers) -> None:
        """Add the rows of a chunk, none of which is blank."""
        if type(chunk) is Chunk and (chunk.lines or chunk.is_array):
            kind = _LINES if chunk.lines else _ITEMS
            before = numbers.of(0) - 1
            self._store_held()
            self._append(kind, len(chunk), chunk.data, before, chunk.start)
        else:
            self._add_placed(
                chunk.rows, map(numbers.of, range(len(chunk))), chunk.start_of
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
            self._store_held()

    def _add_placed(
        self,
        texts: Sequence[bytes],
        numbers: Iterable[int],
        start_of: Callable[[int], Cursor],
    ) -> None:
        """Add rows whose places do not follow from that of the first one."""
        self._store_held()
        places = array("Q")
        for row, number in enumerate(numbers):
            _add_place(places, number, start_of(row))
        self._append(_PLACED, len(texts), b",".join(texts), places=places)

    def _store_held(self) -> None:
        """Store the records that wait."""
        if self._held:
            data, places = b",".join(self._held), self._places
            self._append(_RECORDS, len(self._held), data, places=places)
            self._held, self._held_bytes, self._places = [], 0, array("Q")

    def _append(  # noqa: PLR0913, PLR0917 - all that a block consists of
        self,
        kind: int,
        rows: int,
        data: bytes,
        before: int = 0,
        start: Cursor = Cursor(),  # noqa: B008 - it is frozen
        places: "array[int] | None" = None,
    ) -> None:
        place = before, start.offset, start.line, start.column
        numbers = len(self.sources) - 1, kind, rows, *place
        self._blocks.append(numbers, (data, places.tobytes() if places else b""))
        self.count += rows

    def blocks(self) -> Iterator[RowBlock]:
        """Yield all rows in the order in which they were added."""
        self._store_held()
        first = 0
        for _, (index, kind, rows, before, *place), fields in self._blocks.records():
            data, places = fields
            chunk = Chunk(data, Cursor(*place), items=None if kind == _LINES else rows)
            place_of = partial(_place_in, chunk, before)
            if places:
                place_of = partial(_place_at, array("Q", places))
            source = self.sources[index]
            yield RowBlock(source, index, kind, first, chunk.rows, place_of)
            first += rows

    def close(self) -> None:
        """Delete the temporary file."""
        self._blocks.close()


def _add_place(places: "array[int]", number: int, start: Cursor) -> None:
    """Add the number of a record in its file and the place of its row."""
    places.extend((number, start.offset, start.line, start.column))


def _place_at(places: "array[int]", row: int) -> tuple[int, Cursor]:
    """Return the number and the place of a row as they were added."""
    number, *place = places[4 * row : 4 * row + 4]
    return number, Cursor(*place)


def _place_in(chunk: Chunk, before: int, row: int) -> tuple[int, Cursor]:
    """Return the number and the place of a row of a chunk without blank rows."""
    return before + row + 1, chunk.start_of(row)


class RowSequence:
    """The rows of a data set, from the first one that was not taken yet."""

    def __init__(self, rows: StoredRows) -> None:
        self._blocks = rows.blocks()
        self._block: RowBlock | None = None
        self._at = 0

    @property
    def block(self) -> RowBlock | None:
        """The block of the next row, None behind the last one."""
        while self._block is None or self._at >= len(self._block.texts):
            self._block, self._at = next(self._blocks, None), 0
            if self._block is None:
                return None
        return self._block

    def take(self, *, by_id: bool) -> StoredRecord | None:
        """Take the record of the next row, None behind the last one."""
        block = self.block
        if block is None:
            return None
        self._at += 1
        return block.stored(self._at - 1, by_id=by_id)

    def rest(self, *, by_id: bool) -> Iterator[StoredRecord]:
        """Take all further rows."""
        while (record := self.take(by_id=by_id)) is not None:
            yield record

    def pass_equal(self, other: "RowSequence") -> int:
        """Pass over the next rows as far as they are equal records in both sequences.

        Returns how many these are. Equal rows of several files of one data set may not
        be equal records, as what stands around them may differ.
        """
        passed = 0
        while (
            (ours := self.block) is not None
            and (theirs := other.block) is not None
            and ours.has_equal_rows(theirs)
        ):
            one, two = self._at, other._at
            count = min(len(ours.texts) - one, len(theirs.texts) - two)
            left, right = ours.texts[one : one + count], theirs.texts[two : two + count]
            # Lists are compared many times as fast as their items one by one.
            if left != right:
                pairs = enumerate(zip(left, right, strict=True))
                count = next(at for at, (ours_, theirs_) in pairs if ours_ != theirs_)
            self._at, other._at = one + count, two + count
            passed += count
            if left != right:
                break
        return passed
