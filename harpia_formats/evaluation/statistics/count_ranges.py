"""Count the records of a large file in worker processes."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from harpia_formats.conversion.reading.record_ranges import (
    MAX_ROW,
    FileRows,
    RecordsState,
    are_apart,
    are_short,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.statistics.record_counts import Counts, RecordCounter
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import NotDone, RangeFrames
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.findings import Findings


@dataclass(frozen=True, slots=True)
class CountingWorkers:
    """The worker processes of a run, which count the records of its large files."""

    pool: WorkerPool
    counter: RecordCounter

    def work(self, local: LocalValidation) -> "RangeCounting":
        """Return the work to do on the ranges of a file."""
        return RangeCounting(self.counter, local)

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:  # noqa: ARG002 - the protocol of workers
        """Count in this process what is read only at the end; yield after some rows."""
        yield from stream.finish()


@dataclass(frozen=True, slots=True)
class RangeCounting:
    """The count of the ranges of one file."""

    counter: RecordCounter
    local: LocalValidation
    is_wordy: bool = False

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work."""
        return are_apart(self.local) and are_short(self.local, done, MAX_ROW)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "CountingJob":  # noqa: ARG002 - all is in the plan
        """Return the job that the workers do."""
        return CountingJob.of_file(plan, self.local)

    def given(self, part: FilePart) -> None:
        """Return nothing: a worker needs the rows only."""

    def merge(
        self,
        answer: tuple[Counts, int],
        ranges: Ranges,
        part: FilePart,
        given: None,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Add the counts of the next range, which come with its number of lines."""
        (counts, lines), merge = answer, self.local.merge
        self.counter.merge(counts, merge.records, ranges.lines)
        merge.pass_over(counts.records)
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, lines)
        yield Findings()

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process counts the same."""


class CountingJob(FileRows):
    """How the rows of one file are counted: plain data."""

    __slots__ = ()

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(self)


class _State(RecordsState):
    """Counts one range after the other."""

    def __init__(self, rows: FileRows) -> None:
        counter = self._counter = RecordCounter()
        assert rows.plan.variant is not None  # noqa: S101 - only rows of a known format are read
        counter.open(rows.plan.variant)
        super().__init__(rows, counter.receive, counter)

    def run(self, frames: RangeFrames, given: None) -> tuple[Counts, int] | None:  # noqa: ARG002 - all is in the job
        """Count a range and its lines; None if the main process has to do that."""
        records = self.read(frames)
        counts = self._counter.take()
        return None if records is None else (counts, frames.lines)
