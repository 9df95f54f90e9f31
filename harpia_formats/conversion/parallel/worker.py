"""Convert a unit of rows, in a worker process.

Rows are validated, read, converted and encoded as in the main process. Where anything
is found, rows are left to the main process, maybe with some of those around them.
"""

import threading
from collections.abc import Callable
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from harpia_formats.conversion.chunks import ChunkConverter
from harpia_formats.conversion.parallel.collected import FateLog
from harpia_formats.conversion.parallel.job import ConversionJob, ConvertedRows, Part
from harpia_formats.conversion.parallel.row_converter import (
    ConvertedChunk,
    RowConverter,
)
from harpia_formats.conversion.parallel.row_files import (
    MAX_GROWTH,
    RowFile,
    claim_file,
    unit_file,
)
from harpia_formats.framing.byte_ranges import read_range
from harpia_formats.framing.chunk import Chunk
from harpia_formats.io.reader import SourceError
from harpia_formats.model.exact_json import decode
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.units import FileBytes, RowRange, SentBytes
from harpia_formats.validation.unit.validators import FileValidators
from harpia_formats.workers.same_file import difference_from

if TYPE_CHECKING:  # for a type only
    pass


class _TooManyRows(Exception):  # noqa: N818 - a reason to stop, not an error
    """The rows of a unit are longer than is kept."""


class _OpenPart:
    """Rows that follow each other, as far as they are converted."""

    def __init__(self, before: int, at: int) -> None:
        #: The first byte in the file, -1 as long as there are no rows.
        self.begin = -1
        self.rows = ConvertedRows(before, at=at)
        self.fates = FateLog()


class _OpenParts:
    """The parts of one unit, as far as they are converted."""

    def __init__(self, worker: RowConverter, file: RowFile, before: int) -> None:
        self.worker = worker
        self.file = file
        self.found: list[Part] = []
        self.part = _OpenPart(before, 0)

    def of_unit(self, unit: RowRange) -> list[Part] | None:
        """Return all parts in order, None if the unit cannot be read to its end.

        Raises `_TooManyRows`, and `SourceError` if the unit cannot be read.
        """
        worker = self.worker
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

    def of_batch(self, given: FileBytes | SentBytes) -> list[Part] | None:
        """Return decoded rows as one part, None if one cannot be converted.

        Raises `_TooManyRows`, and `OSError` if the rows cannot be read.
        """
        if isinstance(given, SentBytes):
            data = given.data
        else:
            data = read_range(given.origin, given.begin, given.begin + given.size)
        rows = self.worker.rows_of_batch(decode(data), self.part.rows.before)
        if rows is None:
            return None
        self._take(rows, 0, rows.records)
        self._finish()
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
        rows = self.part.rows
        found = self.worker.rows_of(chunk, rows.before, rows.records)
        if found is None:
            return False
        self._take(found, chunk.start.offset, len(chunk))
        return True

    def _take(self, found: ConvertedChunk, begin: int, lines: int) -> None:
        """Add converted rows to the part; raises `_TooManyRows`."""
        part, output = self.part, self.worker.output
        for block in output.blocks:
            stored = self.file.write(block)
            if stored is None:
                raise _TooManyRows
            part.rows.blocks.append(stored)
        if part.begin < 0:
            part.begin = begin
        part.rows.records += found.records
        part.rows.lines += lines
        part.rows.digests += output.digests
        part.fates.merge(found.fates)

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

    worker: RowConverter | None = None


#: It changes speed only: a worker that learned converts rows as a new one does.
_state = _ThreadState()


def prepare(
    job: ConversionJob, validators: FileValidators, chunks: ChunkConverter
) -> None:
    """Let processes that are forked from this one start with what it has learned."""
    worker = RowConverter(job)
    worker.validators.part().validator.learn_from(validators.part().validator)
    worker.chunks.learn_from(chunks)
    _state.worker = worker


def _parts(
    job: ConversionJob,
    given: FileBytes | SentBytes,
    slot: int,
    run: Callable[[RowFile], list[Part] | None],
) -> list[Part] | None:
    """Convert the parts of some bytes in which nothing is found, by `run`.

    None if they cannot be read, or their rows are longer than is kept.
    """
    # On other machines a unit may be converted twice, and results may be lost.
    path = claim_file(job.folder) if job.is_far else unit_file(job.folder, slot)
    try:
        with RowFile(path, MAX_GROWTH * given.size) as file:
            return run(file)
    except (OSError, SourceError, _TooManyRows):
        return None


def convert_unit(
    job: ConversionJob, unit: RowRange, before: int, slot: int
) -> list[Part] | None:
    """Convert a unit in this process; None if the main process has to do that.

    `before` is the number of records before it if that is needed, `slot` the number of
    the file for its rows.
    """
    worker = _worker_for(job)
    if worker is None:
        return None

    def run(file: RowFile) -> list[Part] | None:
        return _OpenParts(worker, file, before).of_unit(unit)

    return _parts(job, unit.bytes, slot, run)


def convert_batch(
    job: ConversionJob, given: FileBytes | SentBytes, before: int, slot: int
) -> list[Part] | None:
    """Convert decoded rows, which are sent as an array; the rest as `convert_unit`."""
    worker = _worker_for(job)
    if worker is None:
        return None

    def run(file: RowFile) -> list[Part] | None:
        return _OpenParts(worker, file, before).of_batch(given)

    return _parts(job, given, slot, run)


def _worker_for(job: ConversionJob) -> RowConverter | None:
    """Return the worker for a job, None if the file is another one here."""
    worker = _state.worker
    if worker is None or worker.job.plan.key != job.plan.key:
        fingerprint = job.plan.fingerprint
        if fingerprint is not None and difference_from(fingerprint):
            return None
        worker = _state.worker = RowConverter(job)
    return worker
