"""Have the rows of a large file repaired by other processes, in order."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from harpia_formats.files.workers.pool import PendingTask, Task, WorkerDied, WorkerPool
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.one_file import OpenFile
from harpia_formats.validation.parallel.cut import RANGE_DESCRIBED, FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.parallel.large_file import HEAD, WORTH, WORTH_UNKNOWN
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.repair.consumer import RepairConsumer
from harpia_formats.validation.repair.worker import FoundRepairs, prepare, repair_range
from harpia_formats.validation.unit.result import Findings, UnitResult

#: Bytes of a range that a worker reads; its edits are held until it is done.
RANGE = 4 * RANGE_DESCRIBED


@dataclass(slots=True)
class RepairWork:
    """The repair of one file by other processes."""

    pool: WorkerPool
    consumer: RepairConsumer
    plan: FilePlan | None = None
    local: LocalValidation | None = None

    def rows(
        self, local: LocalValidation, frames: Iterator[Frame], file: OpenFile
    ) -> Iterator[Findings]:
        """Repair the rows of the frames of a file, most in other processes."""
        self.local = local
        progress = local.merge.plan.run.options.progress
        yield from HandedOut(self, local, file, progress).rows(frames)

    def is_worth(self, done: int, left: int | None, *, is_range: bool) -> bool:
        """Return whether the rest of the file is worth a second process."""
        assert self.local is not None  # noqa: S101 - see `rows`
        if self.local.merge.plan.cut is Framing.TABLE:
            return False  # nothing of its records is repaired
        if is_range:
            return done >= HEAD and left is not None and left >= WORTH
        return done >= WORTH_UNKNOWN and (left is None or left >= WORTH)

    def range_size(self) -> int:
        """Return the bytes of a range that a worker reads."""
        return RANGE

    def begin(self, plan: FilePlan) -> None:
        """Let processes that are forked from this one start with what it learned."""
        assert self.local is not None  # noqa: S101 - see `rows`
        self.plan = plan
        prepare(self.local.validators, self.consumer.settings)

    def task(self, part: FilePart, unit: RowRange) -> Task:  # noqa: ARG002 - all is in the unit
        """Return the function and arguments with which a worker repairs a unit."""
        return repair_range, (self.plan, unit, self.consumer.settings)

    def answered(
        self,
        handed: HandedOut,
        part: FilePart,
        unit: RowRange,
        ticket: PendingTask | None,
    ) -> Iterator[Findings]:
        """Take the repairs of a unit, or find them in this process."""
        assert self.local is not None  # noqa: S101 - see `rows`
        answer: FoundRepairs | None = None
        with suppress(WorkerDied):
            answer = None if ticket is None else self.pool.result(ticket)
        merge = self.local.merge
        if answer is None:
            reader = handed.reader_of(unit)
            yield from self.local.frames(handed.frames_of(part, reader))
            handed.move_on(unit.end, reader.lines)
            return
        lines = handed.place.line - 1 if handed.place is not None else 0
        for repair in answer.repairs:
            self.consumer.store.add(repair.moved(lines, merge.records))
        merge.add(UnitResult(records=answer.records, lines=answer.lines))
        handed.move_on(unit.end, answer.lines)
        yield Findings()
