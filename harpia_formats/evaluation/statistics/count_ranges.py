"""Have the records of a large file counted by other processes."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from harpia_formats.conversion.reading.record_stream import RecordStream
from harpia_formats.evaluation.statistics.record_counts import Counts, RecordCounter
from harpia_formats.evaluation.statistics.running_counts import RecordPlace
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    RangeFrames,
    RangeState,
)
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import Findings
from harpia_formats.validation.unit.validators import FileValidators

#: Bytes of a row, on average, above which one process holds fewer of them at once.
MAX_ROW = 1024 * 1024


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
        stream = self.local.consumer
        if isinstance(stream, RecordStream) and (
            stream.keys is not None or stream.merges_rows
        ):
            return False
        return done <= MAX_ROW * max(self.local.merge.records, 1)

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "CountingJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        stream = self.local.consumer
        assert isinstance(stream, RecordStream)  # noqa: S101 - it reads the records
        self.counts.settle()
        columns = self.local.merge.columns
        return CountingJob(plan, stream.fields, stream.surroundings, columns)

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
    """How the rows of one file are read, which is the same for all of them."""

    plan: FilePlan
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str]
    #: What stands around the rows, as far as their reader needs it.
    surroundings: Mapping[str, Any]
    #: The columns of a table, from its header.
    columns: tuple[str, ...]

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(self)


class _State(RangeState):
    """Counts one range after the other.

    Rows are validated and read as in the main process. Where anything is found, the
    whole range is left to the main process.
    """

    def __init__(self, job: CountingJob) -> None:
        super().__init__(FileValidators(job.plan))
        self._job = job
        plan, variant = job.plan, job.plan.variant
        assert variant is not None  # noqa: S101 - only rows of a known format are read
        self._collector = Collector(self.validators.rules, plan.name, 1)
        self._counter = RecordCounter()
        self._counter.open(variant, 0)
        self._has_refused = False
        self._stream = RecordStream(
            plan.name,
            self._counter.receive,
            self._refuse,
            lambda _: None,
            self._counter,
            job.fields,
            settled=job.surroundings,
        )
        self._stream.open(variant)
        # The items of columns are kept in the main process.
        self._stream.discard()

    def _refuse(self, _: bytes) -> None:
        self._has_refused = True

    def run(self, frames: RangeFrames, given: None) -> CountedUnit | None:  # noqa: ARG002 - all is in the job
        """Count a range; None if the main process has to do that."""
        plan = self._job.plan
        merge = FileMerge(plan, FileCount(plan.name))
        merge.columns = self._job.columns
        local = LocalValidation(self.validators, merge, self._collector, self._stream)
        self._has_refused = False
        has_found = any(local.frames(iter(frames)))
        counts = self._counter.take()
        self._stream.headers.clear()
        if has_found or self._has_refused:
            self._collector.take()
            return None
        return CountedUnit(counts, merge.records, frames.lines)
