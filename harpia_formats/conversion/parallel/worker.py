"""Convert a unit of rows, in a worker process.

Rows are validated, read, converted and encoded as in the main process. Where anything
is found, rows are left to the main process, maybe with some of those around them.
"""

import threading
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, cast

from harpia_formats.conversion.by_record import RecordConverter
from harpia_formats.conversion.chunks import ChunkConverter
from harpia_formats.conversion.destination import Destination
from harpia_formats.conversion.losses.problems import ConversionProblems
from harpia_formats.conversion.parallel.collected import FateLog, RowBlocks
from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedRows, Part
from harpia_formats.conversion.parallel.row_files import (
    MAX_GROWTH,
    RowFile,
    claim_file,
    unit_file,
)
from harpia_formats.conversion.report import ConversionTotals, StopConversion
from harpia_formats.framing.chunk import Chunk
from harpia_formats.io.reader import SourceError
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.report import FileCount
from harpia_formats.reading.record_stream import PlacedRecord, RecordStream
from harpia_formats.registry import format_of
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.validators import FileValidators
from harpia_formats.workers.same_file import difference_from

if TYPE_CHECKING:  # for a type only
    from harpia_formats.conversion.loss_counts import FateCounts


class _TooManyRows(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a unit are longer than is kept."""


class _Worker:
    """Converts the units of one job, and keeps what it learns from unit to unit."""

    def __init__(self, job: ConversionJob) -> None:
        self.job = job
        plan, options = job.plan, job.options
        variant = plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are converted
        self.validators = FileValidators(plan)
        self.collector = Collector(self.validators.rules, plan.name, 1)
        self.totals = ConversionTotals(loss_fails=options.on_loss == "fail")
        tally = Tally()
        self.totals.begin(variant, tally.begin(plan.name))
        self.models = ModelSelection(options.model)
        self.output = RowBlocks(job.encoder)
        self.chunks = ChunkConverter(options, self.totals)
        self.records = RecordConverter(
            options,
            self.totals,
            ConversionProblems(self.totals, tally),
            self.models,
            None,
            None,
        )
        scorer = None
        if options.score:
            from harpia_formats.conversion.fill_scores import score_filler  # noqa: PLC0415 - it loads the metrics

            scorer = score_filler(options.score)
        self.destination = self.chunks.destination = Destination(
            format_of(job.target), self.output, options, self.output.add_keys, scorer
        )
        self.destination.begin(variant, only=job.is_only)
        #: Whether a row was not valid.
        self.has_refused = False
        self.stream = RecordStream(
            plan.name,
            self._receive,
            self._refuse,
            lambda _: None,
            self.chunks,
            job.fields,
        )
        self.stream.open(variant)

    def _receive(self, placed: PlacedRecord) -> None:
        self.records.convert(placed, 0, self.job.prefix, self.destination)

    def _refuse(self, _: bytes) -> None:
        self.has_refused = True

    def convert(self, unit: RowRange, before: int, slot: int) -> list[Part] | None:
        """Convert the parts of a unit in which nothing is found.

        None if the unit cannot be read, or its rows are longer than is kept.
        """
        job = self.job
        # On other machines a unit may be converted twice, and results may be lost.
        path = claim_file(job.folder) if job.is_far else unit_file(job.folder, slot)
        try:
            with RowFile(path, MAX_GROWTH * unit.bytes.size) as file:
                return _UnitParts(self, unit, file, before).parts()
        except (OSError, SourceError, _TooManyRows):
            return None

    def rows_of(self, chunk: Chunk, before: int, earlier: int) -> "_Rows | None":
        """Convert the rows of a chunk; None if the main process has to do that.

        `before` is the number of records before its part, `earlier` those in the part.
        """
        plan = self.job.plan
        merge = FileMerge(plan, FileCount(plan.name))
        merge.records = earlier
        local = LocalValidation(self.validators, merge, self.collector, self.stream)
        fates = FateLog()
        self.totals.files[0].losses = cast("FateCounts", fates)
        self.totals.records = before + earlier
        headers = len(self.stream.headers)
        self.has_refused = False
        self.output.clear()
        try:
            is_done = not any(local.frames(iter((chunk,))))
        except StopConversion:
            self.collector.take()
            is_done = False
        self.destination.flush()
        if not is_done or self.has_refused:
            del self.stream.headers[headers:]
            return None
        return _Rows(merge.records - earlier, fates)


@dataclass(slots=True)
class _Rows:
    """The number of records of a chunk, and what became of the fields."""

    records: int
    fates: FateLog


class _OpenPart:
    """Rows that follow each other, as far as they are converted."""

    def __init__(self, before: int, at: int) -> None:
        #: The first byte in the file, -1 as long as there are no rows.
        self.begin = -1
        self.rows = ConvertedRows(before, at=at)
        self.fates = FateLog()


class _UnitParts:
    """Converts the parts of one unit."""

    def __init__(
        self, worker: _Worker, unit: RowRange, file: RowFile, before: int
    ) -> None:
        self.worker = worker
        self.unit = unit
        self.file = file
        self.found: list[Part] = []
        self.part = _OpenPart(before, 0)

    def parts(self) -> list[Part] | None:
        """Return all parts in order, None if the unit cannot be read to its end.

        Raises `_TooManyRows`, and `SourceError` if the unit cannot be read.
        """
        worker, unit = self.worker, self.unit
        reader = unit_reader(worker.job.plan.name, unit)
        for frame in unit_frames(unit, reader, worker.job.options.max_row_bytes):
            if not isinstance(frame, Chunk):
                self._leave(frame.start.offset, int(frame.record))
            elif not self._add(frame):
                self._add_pieces(frame)
        if reader.consumed != reader.total:
            return None
        self._finish()
        for earlier, later in pairwise(self.found):
            earlier.end = later.begin
        if self.found:
            self.found[-1].end = unit.end
        return self.found

    def _add_pieces(self, chunk: Chunk) -> None:
        """Convert the valid lines of a chunk, and leave the others."""
        # At the first error the main process stops.
        if not chunk.lines or self.worker.job.plan.run.options.fail_fast:
            self._leave(chunk.start.offset, len(chunk))
            return
        validator = self.worker.validators.part().validator
        for is_valid, rows in groupby(
            range(len(chunk)), lambda row: validator.is_valid(chunk.rows[row])
        ):
            first, *others = rows
            piece = chunk.between(first, first + 1 + len(others))
            if not (is_valid and self._add(piece)):
                self._leave(piece.start.offset, len(piece))

    def _leave(self, begin: int, records: int) -> None:
        """Leave about so many records, from the byte `begin` on, unconverted."""
        self._finish()
        before = self.part.rows.before + self.part.rows.records + records
        if not self.found or self.found[-1].converted is not None:
            self.found.append(Part(begin, begin, None))
        self.part = _OpenPart(before, self.file.size)

    def _add(self, chunk: Chunk) -> bool:
        """Add a chunk to the part; return False if it has to be left.

        Raises `_TooManyRows`.
        """
        part, output = self.part, self.worker.output
        found = self.worker.rows_of(chunk, part.rows.before, part.rows.records)
        if found is None:
            return False
        for block in output.blocks:
            stored = self.file.write(block)
            if stored is None:
                raise _TooManyRows
            part.rows.blocks.append(stored)
        if part.begin < 0:
            part.begin = chunk.start.offset
        part.rows.records += found.records
        part.rows.lines += len(chunk)
        part.rows.digests += output.digests
        part.fates.merge(found.fates)
        return True

    def _finish(self) -> None:
        """Add the part to those that were found, if it has rows."""
        part, worker, file = self.part, self.worker, self.file
        if part.begin < 0:
            return
        rows = part.rows
        rows.fates = part.fates.entries()
        rows.headers, worker.stream.headers = worker.stream.headers, []
        rows.models, rows.has_model = list(worker.models.seen), worker.models.found
        worker.models.seen.clear()
        rows.data = file.take_held()
        if worker.job.is_far and file.path is not None:
            rows.file = str(file.path)
        self.found.append(Part(part.begin, part.begin, rows))


class _ThreadState(threading.local):
    """The worker of a thread of this process, for the job that it got last."""

    worker: _Worker | None = None


#: It changes speed only: a worker that learned converts rows as a new one does.
_state = _ThreadState()


def prepare(
    job: ConversionJob, validators: FileValidators, chunks: ChunkConverter
) -> None:
    """Let processes that are forked from this one start with what it has learned."""
    worker = _Worker(job)
    worker.validators.part().validator.learn_from(validators.part().validator)
    worker.chunks.learn_from(chunks)
    _state.worker = worker


def convert_unit(
    job: ConversionJob, unit: RowRange, before: int, slot: int
) -> list[Part] | None:
    """Convert a unit in this process; None if the main process has to do that.

    `before` is the number of records before it if that is needed, `slot` the number of
    the file for its rows.
    """
    worker = _state.worker
    if worker is None or worker.job.plan.key != job.plan.key:
        fingerprint = job.plan.fingerprint
        if fingerprint is not None and difference_from(fingerprint):
            return None
        worker = _state.worker = _Worker(job)
    return worker.convert(unit, before, slot)
