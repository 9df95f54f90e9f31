"""Have the records of a large file counted by other processes, in order."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from harpia_formats.conversion.parallel.clock import Clock
from harpia_formats.conversion.parallel.job import Part
from harpia_formats.conversion.parallel.unit_places import frames_again
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.statistics.counts import Counts
from harpia_formats.evaluation.statistics.fields import RecordPlace
from harpia_formats.evaluation.statistics.parallel.worker import (
    CountedUnit,
    CountingJob,
    count_unit,
    prepare,
)
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.source import ReadProgress, Source
from harpia_formats.files.workers.ordered import MAX_LOSSES
from harpia_formats.files.workers.pool import PendingTask, Task, WorkerDied, WorkerPool
from harpia_formats.formats.detection.splittable import is_plain_lines, splittable_size
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.unit.result import Findings

#: Seconds of work in this process that are worth a second one.
WORTH_SECONDS = 0.2
#: Bytes of a file from which a cluster or executor may read ranges of it.
MIN_FAR = 24 * 1024 * 1024
#: Bytes of a range that a worker reads, at most and at least; between them, each worker
#: gets about so many of a file that none waits long at its end.
MAX_RANGE, MIN_RANGE = 4 * 1024 * 1024, 1024 * 1024
RANGES_PER_WORKER = 6
#: Bytes of a range for a cluster or executor; each costs its scheduler some time.
FAR_RANGE = 32 * 1024 * 1024
#: Bytes of a row, on average, above which one process holds fewer of them at once.
MAX_ROW = 1024 * 1024
#: After so many units in succession that workers could not count, none is handed out.
MAX_LEFT = 4


class RangeCounts(Protocol):
    """Adds up the counts of the ranges of files."""

    #: The names of the files that were begun.
    files: list[str]

    def settle(self) -> None:
        """Count the rows that were read and not counted yet."""

    def add(self, counts: Counts, before: RecordPlace) -> None:
        """Add the counts of rows that follow the place `before`."""


class CountingWorkers:
    """The worker processes of a run, which count the records of its large files."""

    def __init__(
        self,
        pool: WorkerPool,
        run: RangeCounts,
        progress: Callable[[ReadProgress], None] | None,
    ) -> None:
        self._pool = pool
        self._run = run
        self._progress = progress

    def check_visible(self, source: Source) -> None:
        """Check that the workers see a large file, of which they may read ranges.

        Raises `EngineError` if they do not.
        """
        origin, size = source.origin, splittable_size(source.origin)
        is_large = size is not None and size >= MIN_FAR
        if self._pool.is_far and is_large and is_plain_lines(source):
            assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - so it has ranges
            self._pool.check_visible(origin)

    def rows(
        self, local: LocalValidation, frames: Iterator[Frame], file: OpenFile
    ) -> Iterator[Findings]:
        """Count the frames of a file, most in other processes; yield problems.

        Raises `EngineError`, and what the consumer of `local` raises.
        """
        work = _Counting(self._pool, self._run, local)
        try:
            yield from HandedOut(work, local, file, self._progress).rows(frames)
        finally:
            if work.has_begun:
                self._pool.reset()

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:  # noqa: ARG002 - the protocol of workers
        """Count what is read only at the end of a file, here; yield after some rows."""
        yield from stream.finish()


class _Counting:
    """The count of one file by other processes, if it is worth that."""

    def __init__(
        self, pool: WorkerPool, run: RangeCounts, local: LocalValidation
    ) -> None:
        self.pool = pool
        self.has_begun = False
        self._run = run
        self._local = local
        self._clock = Clock()
        #: The bytes of the file that workers will read.
        self._size = 0
        self._job: CountingJob | None = None
        #: Units in succession that workers left, and workers that died.
        self._left = self._deaths = 0

    def is_worth(self, done: int, left: int | None, *, is_range: bool) -> bool:
        """Return whether the rest of the file is worth a second process."""
        self._clock.note(done)
        stream = self._local.consumer
        if isinstance(stream, RecordStream) and (
            stream.keys is not None or stream.merges_rows
        ):
            return False
        if done > MAX_ROW * max(self._local.merge.records, 1):
            return False
        self._size = (left or 0) if is_range else 0
        return self._clock.estimate(left) >= WORTH_SECONDS

    def range_size(self) -> int:
        """Return the bytes of a range that a worker reads."""
        if self.pool.is_far:
            return FAR_RANGE
        size = self._size // (RANGES_PER_WORKER * self.pool.jobs)
        return max(MIN_RANGE, min(size, MAX_RANGE))

    def begin(self, plan: FilePlan) -> None:
        """Get ready for the units of a file, before the first task."""
        stream = self._local.consumer
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        self._run.settle()
        columns = self._local.merge.columns
        self._job = CountingJob(plan, stream.fields, stream.surroundings, columns)
        self.has_begun = True
        if not self.pool.is_far:
            prepare(self._job, self._local.validators)

    def task(self, part: FilePart, unit: RowRange) -> Task | None:  # noqa: ARG002 - the protocol of units
        """Return the function and arguments with which a worker counts a unit."""
        if self._left >= MAX_LEFT or self._deaths >= MAX_LOSSES:
            return None
        return count_unit, (self._job, unit)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        counted, merge = self._answer(ticket), self._local.merge
        if counted is None:
            piece = Part(unit.begin, unit.end, None)
            yield from self._local.frames(frames_again(piece, handed, part, unit))
            return
        self._run.settle()
        lines = 0 if handed.place is None else handed.place.line - 1
        file = len(self._run.files) - 1
        self._run.add(counted.counts, RecordPlace(file, merge.records, lines))
        merge.pass_over(counted.records)
        handed.move_on(unit.end, counted.lines)
        yield Findings()

    def _answer(self, ticket: PendingTask | None) -> CountedUnit | None:
        """Return what a worker counted, None if it could not."""
        if ticket is None:
            return None
        try:
            found: CountedUnit | None = self.pool.result(ticket)
        except WorkerDied:
            self._deaths += 1
            return None
        self._deaths = 0
        self._left = self._left + 1 if found is None else 0
        return found
