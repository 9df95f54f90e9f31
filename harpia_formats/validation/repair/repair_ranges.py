"""Repair the rows of a large file in worker processes."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from harpia_formats.files.framing.chunk import Chunk, FramingFault, rows_with_nulls
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    RangeFrames,
    RangeState,
)
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.repair.found_repairs import RepairConsumer
from harpia_formats.validation.repair.proposals import Proposals, RepairSettings
from harpia_formats.validation.repair.row_repairs import PlacedRepair, RowsRepairer
from harpia_formats.validation.unit.findings import Findings, RecordNumbers, UnitResult
from harpia_formats.validation.unit.validators import FileValidators


@dataclass(slots=True)
class RangeRepair:
    """The repair of the ranges of one file."""

    local: LocalValidation
    consumer: RepairConsumer
    #: The edits of a range are held until it is done, but they are few.
    is_wordy: bool = False

    def can_share(self, done: int) -> bool:  # noqa: ARG002 - however much is done
        """Return whether workers can do the work: nothing of a table is repaired."""
        return self.local.merge.plan.cut is not Framing.TABLE

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "RepairJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        return RepairJob(plan, self.consumer.settings)

    def given(self, part: FilePart) -> None:
        """Return nothing: a worker needs the rows only."""

    def merge(
        self,
        answer: "FoundRepairs",
        ranges: Ranges,
        part: FilePart,
        given: None,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Store the repairs of the next range."""
        merge = self.local.merge
        for repair in answer.repairs:
            self.consumer.store.add(repair.moved(ranges.lines, merge.records))
        merge.add(UnitResult(records=answer.records, lines=answer.lines))
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, answer.lines)
        yield Findings()

    def note_left(self, reason: NotDone | None) -> None:
        """Note nothing: this process finds the same repairs."""


class FoundRepairs(msgspec.Struct, frozen=True):
    """The repairs of a range, and how many records and lines it has."""

    repairs: tuple[PlacedRepair, ...]
    records: int
    lines: int


class RepairJob(msgspec.Struct, frozen=True):
    """How the ranges of one file are repaired: plain data."""

    plan: FilePlan
    settings: RepairSettings

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(FileValidators(self.plan), self.settings)


class _State(RangeState):
    """Repairs one range after the other."""

    def __init__(self, validators: FileValidators, settings: RepairSettings) -> None:
        super().__init__(validators)
        variant = validators.variant
        format_ = variant.format if variant is not None else None
        self._proposals = Proposals(settings, format_)

    def run(self, frames: RangeFrames, given: None) -> FoundRepairs:  # noqa: ARG002 - all is in the job
        """Return the repairs of a range."""
        part, reads_nan = self.validators.part(), self.validators.plan.reads_nan
        rows = RowsRepairer(self._proposals, part)
        found: list[PlacedRepair] = []
        records = 0
        for frame in frames:
            if isinstance(frame, Chunk):
                chunk = rows_with_nulls(frame) if reads_nan else frame
                verdict = part.validator.validate(chunk, shares=True)
                numbers = RecordNumbers(records, verdict.blank)
                found += rows.repairs(chunk, verdict, numbers)
                records += verdict.records
            elif isinstance(frame, FramingFault):
                records += frame.record
        return FoundRepairs(tuple(found), records, frames.lines)
