"""Have the records of a large file counted by other processes."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from harpia_formats.conversion.reading.record_ranges import (
    MAX_ROW,
    FileRows,
    RecordsState,
    are_apart,
    are_short,
)
from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.statistics.record_counts import Counts, RecordCounter
from harpia_formats.evaluation.statistics.running_counts import RecordPlace
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import NotDone, RangeFrames
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.findings import Findings


class RangeCounts(Protocol):
    """Adds up the counts of the ranges of files."""

    #: The names of the files that were begun.
    files: list[str]

    def settle(self) -> None:
        """Count the rows that were read and not counted yet."""

    def add(self, counts: Counts, before: RecordPlace) -> None:
        """Add the counts of rows that follow the place `before`."""


@dataclass(frozen=True, slots=True)
class CountingWorkers:
    """The worker processes of a run, which count the records of its large files."""

    pool: WorkerPool
    run: RangeCounts

    def work(self, local: LocalValidation) -> "RangeCounting":
        """Return what is done with the ranges of a file."""
        return RangeCounting(self.run, local)

    def finish(self, local: LocalValidation, stream: RecordStream) -> Iterator[None]:  # noqa: ARG002 - the protocol of workers
        """Count what is read only at the end of a file, here; yield after some rows."""
        yield from stream.finish()


@dataclass(frozen=True, slots=True)
class RangeCounting:
    """The count of the ranges of one file."""

    counts: RangeCounts
    local: LocalValidation
    is_wordy: bool = False

    def can_share(self, done: int) -> bool:
        """Return whether workers can do the work."""
        return are_apart(self.local) and are_short(self.local, done, MAX_ROW)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "CountingJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        self.counts.settle()
        return CountingJob(FileRows.of_file(plan, self.local))

    def given(self, part: FilePart) -> None:
        """Return nothing: a worker needs the rows only."""

    def merge(
        self,
        answer: "CountedUnit",
        ranges: Ranges,
        part: FilePart,
        given: None,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Add the counts of the next range."""
        counts, merge = self.counts, self.local.merge
        counts.settle()
        file = len(counts.files) - 1
        counts.add(answer.counts, RecordPlace(file, merge.records, ranges.lines))
        merge.pass_over(answer.records)
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, answer.lines)
        yield Findings()

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process counts the same."""


@dataclass(frozen=True, slots=True)
class CountedUnit:
    """The counts of a range, whose places count from its beginning, and its size."""

    counts: Counts
    records: int
    lines: int


@dataclass(frozen=True, slots=True)
class CountingJob:
    """How the rows of one file are counted: plain data."""

    rows: FileRows

    @property
    def plan(self) -> FilePlan:
        """The plan of the file."""
        return self.rows.plan

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(self.rows)


class _State(RecordsState):
    """Counts one range after the other."""

    def __init__(self, rows: FileRows) -> None:
        counter = self._counter = RecordCounter()
        assert rows.plan.variant is not None  # noqa: S101 - only rows of a known format are read
        counter.open(rows.plan.variant, 0)
        super().__init__(rows, counter.receive, counter)

    def run(self, frames: RangeFrames, given: None) -> CountedUnit | None:  # noqa: ARG002 - all is in the job
        """Count a range; None if the main process has to do that."""
        records = self.read(frames)
        counts = self._counter.take()
        if records is None:
            return None
        return CountedUnit(counts, records, frames.lines)
