"""Collect the records of one file, and count them some at a time."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.direct_read import DirectRead, direct_read
from harpia_formats.conversion.mapping.row_reader import NO_SURROUNDINGS, ReadRow
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.row_batch import DecodedChunk, RowBatch
from harpia_formats.evaluation.statistics.counts import Counts
from harpia_formats.evaluation.statistics.fields import RecordPlace
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    RowCapacity,
)
from harpia_formats.model.exact_json import decode
from harpia_formats.model.record import FIELD_TYPES, Record

#: Records that are counted together, at most; and bytes of the rows that are held.
HELD_RECORDS, HELD_BYTES = 512, 1024 * 1024
#: Records after which counts are delivered: they hold digests of each record.
DELIVERED = 20_000
_index = itemgetter(0)


def _as_it_is(row: dict[str, Any]) -> Record:
    return Record(**row)


#: What statistics need of records.
NEEDED = FormatAdapter(
    vendor="statistics",
    fields=tuple(
        FieldMapping(tuple(path.split(".")), path)
        for path in FIELD_TYPES
        if not path.endswith(("extra", "attribution"))
    ),
    read=_as_it_is,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
)


class RecordCounter:
    """Counts the records of one file: those that a `RecordStream` passes to it.

    After the last record `flush` is to be called.
    """

    def __init__(self, deliver: Callable[[Counts], None] | None = None) -> None:
        """Take what is called with the counts of each some records.

        If it is None, counts are kept until they are taken.
        """
        self.counts = Counts()
        self._deliver = deliver
        self._file = 0
        self._variant: FormatVariant | None = None
        self._read: ReadRow | None = None
        self._around: Mapping[str, Any] = NO_SURROUNDINGS
        #: The decoder of the last rows, and what reads its rows directly.
        self._decoder: TypedDecoder | None = None
        self._direct: DirectRead | None = None
        #: Records that are not counted yet, their numbers, where they begin (for the
        #: first of some that are beside each other, by its index), and the bytes of
        #: their rows.
        self._records: list[Record] = []
        self._numbers: list[int] = []
        self._starts: list[tuple[int, Callable[[int], Cursor]]] = []
        self._size = 0

    def open(self, variant: FormatVariant, file: int) -> None:
        """Take the format of the next file, and its number."""
        self.flush()
        self._variant, self._file = variant, file

    def begin(self, read: ReadRow, around: Mapping[str, Any]) -> None:
        """Take what reads a row of the file, and what stands around its rows."""
        self._read, self._around, self._decoder = read, around, None

    def receive(self, placed: PlacedRecord) -> None:
        """Take a record that was read alone."""
        start = placed.start
        self._add([placed.record], [placed.number], lambda _: start, len(placed.text))

    def decoded(self, rows: DecodedChunk) -> bool:
        """Take the rows of a chunk that a typed decoder decoded."""
        read = self._read
        if read is None:
            return False
        chunk, direct = rows.chunk, self._direct_for(rows.decoder)
        if direct is None:
            records = [read(decode(row)) for row in chunk.rows]
        else:
            found = direct.records(chunk, rows.values)
            records = [
                read(decode(chunk.rows[index])) if each is None else each[0]
                for index, each in enumerate(found)
            ]
        numbers = [*map(rows.numbers.of, range(len(records)))]
        self._add(records, numbers, chunk.start_of, len(chunk.data))
        return True

    def batch(self, batch: RowBatch) -> bool:
        """Take a batch of rows."""
        read = self._read
        if read is None:
            return False
        records = [*map(read, batch.values)]
        self._add(records, batch.numbers, batch.start_of, HELD_BYTES)
        return True

    def _add(
        self,
        records: list[Record],
        numbers: Sequence[int],
        start_of: Callable[[int], Cursor],
        size: int,
    ) -> None:
        """Take records of `size` bytes, and count those that wait if they are many."""
        self._starts.append((len(self._records), start_of))
        self._records += records
        self._numbers += numbers
        self._size += size
        if len(self._records) >= HELD_RECORDS or self._size >= HELD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Count the records that wait, and deliver the counts if there are enough."""
        records, numbers, starts = self._records, self._numbers, self._starts
        self._records, self._numbers, self._starts, self._size = [], [], [], 0
        file = self._file

        def place(index: int) -> RecordPlace:
            first, start_of = starts[bisect_right(starts, index, key=_index) - 1]
            return RecordPlace(file, numbers[index], start_of(index - first).line)

        self.counts.add(records, numbers, place)
        if self._deliver is not None and self.counts.records >= DELIVERED:
            counts, self.counts = self.counts, Counts()
            self._deliver(counts)

    def _direct_for(self, decoder: TypedDecoder) -> DirectRead | None:
        """Return the function that reads rows of `decoder` directly, if any."""
        if decoder is not self._decoder:
            self._decoder, self._direct = decoder, None
            variant = self._variant
            assert variant is not None  # noqa: S101 - see `open`
            source = adapter_of(variant.format)
            if variant.dialect.name not in source.dialect_normalizers:
                self._direct = direct_read(
                    source, NEEDED, Choices(), decoder, self._around, is_exact=False
                )
        return self._direct

    def take(self) -> Counts:
        """Return what was counted since the last call."""
        self.flush()
        counts, self.counts = self.counts, Counts()
        return counts
