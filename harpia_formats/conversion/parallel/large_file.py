"""Have the rows of a large file converted by other processes, in order."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.conversion.parallel.clock import Clock
from harpia_formats.conversion.parallel.shared_conversion import SharedConversion
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.files.io.source import Source
from harpia_formats.files.workers.pool import PendingTask, Task
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.detection.splittable import is_plain_lines, splittable_size
from harpia_formats.validation.local import LocalValidation, RowConsumer
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.unit.result import Findings

if TYPE_CHECKING:  # most files are too small for it: start-up time
    from harpia_formats.conversion.parallel.units import ConvertedUnits

#: Seconds of work in this process that are worth a second one.
WORTH_SECONDS = 0.2
#: Bytes of a file from which a cluster or executor may read ranges of it.
MIN_FAR = 24 * 1024 * 1024
#: Bytes of a range that a worker reads, at most and at least; between them, each worker
#: gets about so many of a file that none waits long at its end.
MAX_RANGE, MIN_RANGE = 4 * 1024 * 1024, 1024 * 1024
RANGES_PER_WORKER = 6
#: How much shorter the ranges of a table are.
TABLE_GROWTH = 2
#: Bytes of a range for a cluster or executor; each costs its scheduler some time.
FAR_RANGE = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ConversionWorkers(SharedConversion):
    """The worker processes of a run, which convert the rows of its large files."""

    def check_visible(self, source: Source) -> None:
        """Check that the workers see a large file, of which they may read ranges.

        Raises `EngineError` if they do not.
        """
        origin, size = source.origin, splittable_size(source.origin)
        is_large = size is not None and size >= MIN_FAR
        if self.pool.is_far and is_large and is_plain_lines(source):
            assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - so it has ranges
            self.pool.check_visible(origin)

    def rows(
        self, local: LocalValidation, frames: Iterator[Frame], file: OpenFile
    ) -> Iterator[Findings]:
        """Convert the frames of a file, most in other processes; yield problems.

        Raises `EngineError`, and what the consumer of `local` raises.
        """
        with ExitStack() as stack:
            work = _Conversion(self, local, stack)
            handed = HandedOut(work, local, file, self.options.progress)
            yield from handed.rows(frames)

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:
        """Convert what is read only at the end of a file; yield after some rows.

        Raises `EngineError`, and what `RecordStream.finish` and its receiver raise.
        """
        batches = stream.batches()
        clock, done = Clock(timed=1), 0
        rows = max(local.merge.lengths.values(), default=0)
        for batch in batches:
            stream.batch(batch)
            yield
            done += len(batch.values)
            clock.note(done)
            if self.can_share(stream) and clock.estimate(rows - done) >= WORTH_SECONDS:
                from harpia_formats.conversion.parallel.batches import share_batches  # noqa: PLC0415 - most files are too small for it

                yield from share_batches(self, local, batches)
        yield from stream.merge_rows()

    def can_share(self, stream: RowConsumer | None) -> bool:
        """Return whether workers can convert the rows of a file."""
        destination = self.chunks.destination
        if destination is None or self.options.group is not None:
            return False
        if destination.outputs.is_split and destination.adapter.columns:
            # The table of each model has its own columns.
            return False
        if not isinstance(stream, RecordStream):
            return True
        return stream.keys is None and not stream.merges_rows


class _Conversion:
    """The conversion of one file by other processes, if it is worth that."""

    def __init__(
        self, workers: ConversionWorkers, local: LocalValidation, stack: ExitStack
    ) -> None:
        self.pool = workers.pool
        self._workers = workers
        self._local = local
        #: Ends the workers, and deletes the files of rows.
        self._stack = stack
        self._clock = Clock()
        #: The bytes of the file that workers will read.
        self._left = 0
        self._units: ConvertedUnits | None = None

    def is_worth(self, done: int, left: int | None, *, is_range: bool) -> bool:
        """Return whether the rest of the file is worth a second process."""
        self._clock.note(done)
        if not self._workers.can_share(self._local.consumer):
            return False
        self._left = (left or 0) if is_range else 0
        return self._clock.estimate(left) >= WORTH_SECONDS

    def range_size(self) -> int:
        """Return the bytes of a range that a worker reads."""
        if self.pool.is_far:
            return FAR_RANGE
        size = self._left // (RANGES_PER_WORKER * self.pool.jobs)
        most = MAX_RANGE
        if self._local.merge.plan.cut is Framing.TABLE:
            # Short cells become rows of many times their length.
            most //= TABLE_GROWTH
        return max(MIN_RANGE, min(size, most))

    def begin(self, plan: FilePlan) -> None:
        """Get ready for the units of a file, before the first task."""
        from harpia_formats.conversion.parallel.units import ConvertedUnits  # noqa: PLC0415 - most files are too small for it

        size = self.range_size() if self._left else 0
        units = ConvertedUnits(self._workers, self._local, plan, size)
        self._units = self._stack.enter_context(units)

    def task(self, part: FilePart, unit: RowRange) -> Task | None:
        """Return the function and arguments with which a worker converts a unit."""
        assert self._units is not None  # noqa: S101 - see `begin`
        return self._units.task(part, unit)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        assert self._units is not None  # noqa: S101 - see `begin`
        yield from self._units.answered(handed, part, unit, ticket)
