"""Convert the parts of one unit in which nothing is found."""

from collections.abc import Iterator
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING

from harpia_formats.conversion.parallel.collected import FateLog
from harpia_formats.conversion.parallel.job import ConvertedRows, Part
from harpia_formats.conversion.parallel.row_converter import (
    ConvertedChunk,
    RowConverter,
)
from harpia_formats.conversion.parallel.row_files import RowFile, StoredRows
from harpia_formats.conversion.reading.column_rows import decoded_rows
from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import RangeReader, read_range
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.parsing.csv_blocks import TableBlock
from harpia_formats.files.parsing.csv_pieces import TableFault
from harpia_formats.files.parsing.csv_records import rows_of_block
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.table_units import BATCH, start_of
from harpia_formats.validation.plan.units import FileBytes, RowRange, SentBytes
from harpia_formats.validation.second_pass import table_frames

if TYPE_CHECKING:  # for a type only
    from harpia_formats.validation.plan.table_units import TableBatch


#: Different sets of fields and fates that are kept for a unit, some kilobytes each.
MAX_FATES = 2_000


class TooManyRows(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a unit are longer, or differ more in their fields, than is kept."""


class _OpenPart:
    """Rows that follow each other, as far as they are converted."""

    def __init__(self, before: int, at: int) -> None:
        #: Where they begin, None as long as there are none.
        self.start: Cursor | None = None
        self.rows = ConvertedRows(before, at=at)
        self.fates = FateLog()


class UnitParts:
    """The parts of one unit, as far as they are converted."""

    def __init__(self, worker: RowConverter, file: RowFile, before: int) -> None:
        self.worker = worker
        self.file = file
        self.found: list[Part] = []
        self.part = _OpenPart(before, 0)
        #: How many sets of fields and fates the finished parts have.
        self.fates = 0

    def of_unit(self, unit: RowRange) -> list[Part] | None:
        """Return all parts in order, None if the unit cannot be read to its end.

        Raises `TooManyRows`, and `SourceError` if the unit cannot be read.
        """
        plan = self.worker.job.plan
        reader = unit_reader(plan.name, unit)
        if plan.cut is Framing.TABLE:
            self._add_table(unit, reader)
        else:
            self._add_rows(unit, reader)
        if reader.consumed != reader.total:
            return None
        self._finish(unit.start.line + reader.lines)
        for earlier, later in pairwise(self.found):
            earlier.end = later.begin
        if self.found:
            self.found[-1].end = unit.end
        return self.found

    def of_batch(self, given: FileBytes | SentBytes) -> list[Part] | None:
        """Return decoded rows as one part, None if one cannot be converted.

        Raises `TooManyRows`, and `OSError` if the rows cannot be read.
        """
        if isinstance(given, SentBytes):
            data = given.data
        else:
            data = read_range(given.origin, given.begin, given.begin + given.size)
        rows = self.worker.rows_of_batch(decoded_rows(data), self.part.rows.before)
        if rows is None:
            return None
        self._take(rows, Cursor())
        self._finish(0)
        return self.found

    def _add_rows(self, unit: RowRange, reader: RangeReader) -> None:
        """Add rows of JSON."""
        for frame in unit_frames(unit, reader, self.worker.job.options.max_row_bytes):
            if not isinstance(frame, Chunk):
                self._leave(frame.start, int(frame.record))
            elif not self._add(frame, frame.start):
                self._add_pieces(frame)

    def _add_table(self, unit: RowRange, reader: RangeReader) -> None:
        """Add records of a table.

        A fault is left with the records that were cut with it. If the unit ends inside
        of a field, the last record has one.
        """
        start: Cursor | None = unit.start
        buffer, plan = ByteBuffer(iter(reader)), self.worker.job.plan
        for batch in _with_whole_records(table_frames(buffer, unit.start, plan)):
            begin = start or start_of(batch)
            start = None
            if not isinstance(batch, TableBlock):
                self._add_records(batch, begin)
            elif not self._add(batch, begin):
                self._add_block(batch)

    def _add_block(self, block: TableBlock) -> None:
        """Convert the records of a block, but for a few around each invalid one."""
        # At the first error the main process stops.
        if self.worker.job.plan.run.options.fail_fast:
            self._leave(block.start, block.count)
            return
        records = rows_of_block(block)
        while some := tuple(islice(records, BATCH)):
            self._add_records(some, some[0].start)

    def _add_records(self, records: "TableBatch", start: Cursor) -> None:
        """Add records of a table, or leave all of them."""
        is_broken = any(isinstance(piece, TableFault) for piece in records)
        if is_broken or not self._add(records, start):
            self._leave(start, len(records))

    def _add_pieces(self, chunk: Chunk) -> None:
        """Convert the valid lines of a chunk, and leave the others."""
        # At the first error the main process stops.
        if not chunk.lines or self.worker.job.plan.run.options.fail_fast:
            self._leave(chunk.start, len(chunk))
            return
        validator = self.worker.validators.part().validator
        for is_valid, rows in groupby(
            range(len(chunk)), lambda row: validator.is_valid(chunk.rows[row])
        ):
            first, *others = rows
            piece = chunk.between(first, first + 1 + len(others))
            if not (is_valid and self._add(piece, piece.start)):
                self._leave(piece.start, len(piece))

    def _leave(self, start: Cursor, records: int) -> None:
        """Leave about so many records, from `start` on, unconverted."""
        self._finish(start.line)
        before = self.part.rows.before + self.part.rows.records + records
        if not self.found or self.found[-1].converted is not None:
            self.found.append(Part(start.offset, start.offset, None))
        self.part = _OpenPart(before, self.file.size)

    def _add(self, frame: "Chunk | TableBatch | TableBlock", start: Cursor) -> bool:
        """Add rows to the part; return False if they have to be left.

        Raises `TooManyRows`.
        """
        rows = self.part.rows
        found = self.worker.rows_of(frame, rows.before, rows.records)
        if found is None:
            return False
        self._take(found, start)
        return True

    def _take(self, found: ConvertedChunk, start: Cursor) -> None:
        """Add converted rows to the part; raises `TooManyRows`."""
        part, output = self.part, self.worker.output
        for model, block in zip(output.models, output.blocks, strict=True):
            stored = self.file.write(block, model)
            if stored is None:
                raise TooManyRows
            _append(stored, part.rows.blocks)
        output.keep_columns()
        part.start = part.start or start
        part.rows.records += found.records
        part.rows.digests += output.digests
        part.fates.merge(found.fates)
        if self.fates + len(part.fates) > MAX_FATES:
            # The main process adds them up row by row, so that none are kept.
            raise TooManyRows

    def _finish(self, line: int) -> None:
        """Add the part, which ends where `line` begins, if it has rows."""
        part, worker, file = self.part, self.worker, self.file
        if part.start is None:
            return
        rows, begin = part.rows, part.start.offset
        rows.lines = line - part.start.line
        rows.fates = part.fates.entries()
        self.fates += len(rows.fates)
        rows.headers, worker.stream.headers = worker.stream.headers, []
        rows.models, rows.has_model = list(worker.models.seen), worker.models.found
        worker.models.seen.clear()
        rows.metrics = list(worker.models.metrics)
        rows.has_metric = worker.models.has_metric
        rows.data = file.take_held()
        if worker.job.is_far and file.path is not None:
            rows.file = str(file.path)
        self.found.append(Part(begin, begin, rows))


def _append(rows: StoredRows, blocks: list[StoredRows]) -> None:
    """Add rows to the blocks of a part, to the last one if they can be joined."""
    joined = blocks[-1].joined(rows) if blocks else None
    if joined is None:
        blocks.append(rows)
    else:
        blocks[-1] = joined


def _with_whole_records(
    batches: "Iterator[TableBatch | TableBlock]",
) -> "Iterator[TableBatch | TableBlock]":
    """Yield records of a table so that none but the first batch begins with a fault.

    A fault is in a record or behind it, and has no place where a record begins.
    """
    held: TableBatch | TableBlock = ()
    for batch in batches:
        if isinstance(batch, TableBlock) or not isinstance(batch[0], TableFault):
            if held:
                yield held
            held = batch
        elif isinstance(held, TableBlock):
            held = (*rows_of_block(held), *batch)
        else:
            held += batch
    if held:
        yield held
