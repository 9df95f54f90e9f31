"""Have the rows of a large file validated by other processes, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harpia_formats.files.framing.chunk import (
    Chunk,
    FramingFault,
    count_newlines,
    is_blank,
)
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.pool import PendingTask, Task, WorkerDied, WorkerPool
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.merge.places import placed
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import RANGE, FilePart, range_size
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.parallel.redone import RedoneUnits
from harpia_formats.validation.parallel.unvalidated import internal_error, worker_died
from harpia_formats.validation.parallel.worker import answer_range, prepare
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import Demand, RowRange
from harpia_formats.validation.unit.result import (
    Findings,
    InternalFault,
    UnitAnswer,
    UnitResult,
    unvalidated,
)

#: Bytes that are validated here first: enough to learn how most rows look.
HEAD = 1024 * 1024
#: Bytes of a file after them that are worth a second process; if the size of the file
#: is not known, bytes that must have been read before a second process is used.
WORTH, WORTH_UNKNOWN = 3 * RANGE, 4 * 1024 * 1024
#: Groups of which a worker is sent that they have enough examples, at most.
SATISFIED = 256


@dataclass(frozen=True, slots=True)
class Workers:
    """The worker processes of a run, which validate the rows of its large files."""

    pool: WorkerPool
    #: Returns which problems of a file need no description, as plain data that names at
    #: most so many groups.
    demand: Callable[[FileCount, int], Demand]
    #: Counts the units that this process validates because no worker did.
    redone: RedoneUnits
    #: Called after each unit with how far the file was read.
    progress: Callable[[ReadProgress], None] | None = None

    def rows(
        self, local: LocalValidation, frames: Iterator[Frame], file: OpenFile
    ) -> Iterator[Findings]:
        """Validate the frames of a file, most in other processes; yield problems."""
        work = _Validation(self.pool, self, local, file, local.merge.plan)
        yield from HandedOut(work, local, file, self.progress).rows(frames)


@dataclass(slots=True)
class _Validation:
    """The validation of one file by other processes."""

    pool: WorkerPool
    workers: Workers
    local: LocalValidation
    file: OpenFile
    #: The plan that is sent to workers.
    plan: FilePlan

    def is_worth(self, done: int, left: int | None, *, is_range: bool) -> bool:
        """Return whether the rest of the file is worth a second process."""
        if is_range:
            return done >= HEAD and left is not None and left >= WORTH
        return done >= WORTH_UNKNOWN and (left is None or left >= WORTH)

    def range_size(self) -> int:
        """Return the bytes of a range that a worker reads."""
        return range_size(self.plan.run.options.examples, is_far=self.pool.is_far)

    def begin(self, plan: FilePlan) -> None:
        """Let processes that are forked from this one start with what it learned."""
        self.plan = plan
        prepare(self.local.validators)

    def task(self, part: FilePart, unit: RowRange) -> Task:  # noqa: ARG002 - all is in the unit
        """Return the function and arguments with which a worker validates a unit."""
        demand = self.workers.demand(self.file.count, SATISFIED)
        return answer_range, (self.plan, unit, demand)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Yield the problems of a unit, by its answer."""
        if ticket is None:
            yield from self._here(handed, part, unit)
            return
        try:
            answer: UnitAnswer = self.pool.result(ticket)
        except WorkerDied:
            yield from self._unvalidated(handed, part, unit, worker_died(unit))
            return
        if isinstance(answer, UnitResult):
            yield self._added(answer, handed)
            handed.move_on(unit.end, answer.lines)
        elif isinstance(answer, InternalFault):
            fault = internal_error(unit, answer)
            yield from self._unvalidated(handed, part, unit, fault)
        else:
            self.workers.redone.count(answer)
            yield from self._here(handed, part, unit)

    def _here(
        self, handed: HandedOut, part: FilePart, unit: RowRange
    ) -> Iterator[Findings]:
        """Yield the problems of a unit that this process validates."""
        reader = handed.reader_of(unit)
        yield from self.local.frames(handed.frames_of(part, reader))
        handed.move_on(unit.end, reader.lines)

    def _added(self, result: UnitResult, handed: HandedOut) -> Findings:
        """Add the result of the next unit; return its problems with their places."""
        merge = self.local.merge
        lines = handed.place.line - 1 if handed.place is not None else 0
        findings = placed(result.findings, merge.records, lines)
        merge.add(result, lines=lines)
        if self.local.repeated_ids is not None:
            self.local.repeated_ids.add_digests(result.digests)
        if self.local.across is not None:
            self.local.across.add(result.across)
        return findings

    def _unvalidated(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        problem: tuple[str, str, str],
    ) -> Iterator[Findings]:
        """Count the records of a unit that could not be validated, and report them."""
        merge, code, message, help_ = self.local.merge, *problem
        before, start = merge.records, handed.place or unit.start
        reader = handed.reader_of(unit)
        records = lines = 0
        for frame in handed.frames_of(part, reader):
            if isinstance(frame, Chunk):
                lines += count_newlines(frame.data)
                records += sum(not is_blank(row) for row in frame.rows)
            elif isinstance(frame, FramingFault):
                records += frame.record
        merge.add(unvalidated(records))
        merge.has_gaps = True
        collector = self.local.collector
        text = f"{records:,} record{'s' * (records != 1)}"
        where = f"lines {start.line:,} to {start.line + lines:,}"
        place = collector.place(start, before + 1 if records else None)
        collector.add(code, message.format(records=text, where=where), help_, place)
        yield collector.take()
        handed.move_on(unit.end, reader.lines)
