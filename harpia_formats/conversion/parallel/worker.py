"""Convert a unit of rows, in a worker process.

Rows are validated, read, converted and encoded as in the main process. Where anything
is found, rows are left to the main process, maybe with some of those around them.
"""

import threading
from collections.abc import Callable

from harpia_formats.conversion.chunks import ChunkConverter
from harpia_formats.conversion.parallel.job import ConversionJob, Part
from harpia_formats.conversion.parallel.row_converter import (
    RowConverter,
)
from harpia_formats.conversion.parallel.row_files import (
    RowFile,
    claim_file,
    rows_limit,
    unit_file,
)
from harpia_formats.conversion.parallel.unit_parts import TooManyRows, UnitParts
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.workers.same_file import difference_from
from harpia_formats.validation.plan.units import FileBytes, RowRange, SentBytes
from harpia_formats.validation.unit.validators import FileValidators


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
        with RowFile(path, rows_limit(given.size)) as file:
            return run(file)
    except (OSError, SourceError, TooManyRows):
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
        return UnitParts(worker, file, before).of_unit(unit)

    return _parts(job, unit.bytes, slot, run)


def convert_batch(
    job: ConversionJob, given: FileBytes | SentBytes, before: int, slot: int
) -> list[Part] | None:
    """Convert rows that `encoded_rows` encoded; the rest is as in `convert_unit`."""
    worker = _worker_for(job)
    if worker is None:
        return None

    def run(file: RowFile) -> list[Part] | None:
        return UnitParts(worker, file, before).of_batch(given)

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
