"""Validate the ranges of a large file in worker processes."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.model.report import FileCount
from harpia_formats.validation.local import LocalValidation
from harpia_formats.validation.merge.file_merge import placed
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    RangeFrames,
    RangeState,
)
from harpia_formats.validation.parallel.ranges import FilePart, Ranges
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import Broken, CutRows, Demand
from harpia_formats.validation.unit.collector import Collector, report_broken
from harpia_formats.validation.unit.findings import (
    Findings,
    RecordSet,
    RedoneUnits,
    UnitResult,
    add_counts,
    joined_digests,
)
from harpia_formats.validation.unit.rows import validate_rows
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # most runs count no lengths: start-up time
    from harpia_formats.model.bins import LengthCounts

#: Groups of which a worker is sent that they have enough examples, at most.
SATISFIED = 256


@dataclass(slots=True)
class RangeValidation:
    """The validation of the ranges of one file."""

    local: LocalValidation
    #: Returns which problems of a file need no description, as plain data that names at
    #: most so many groups.
    demand: Callable[[FileCount, int], Demand]
    #: Counts the ranges that this process validates because no worker did.
    redone: RedoneUnits

    @property
    def is_wordy(self) -> bool:
        """Whether all problems come back, and not only some examples."""
        return not self.local.merge.plan.run.options.examples

    def can_share(self, done: int) -> bool:  # noqa: ARG002 - however much is done
        """Return that workers can do the work."""
        return True

    def begin(self, plan: FilePlan, size: int, stack: ExitStack) -> "ValidationJob":  # noqa: ARG002 - all is in the plan
        """Return what workers do."""
        return ValidationJob(plan)

    def given(self, part: FilePart) -> Demand:  # noqa: ARG002 - the same for all parts
        """Return which problems need no description any more."""
        return self.demand(self.local.merge.count, SATISFIED)

    def merge(
        self,
        answer: UnitResult,
        ranges: Ranges,
        part: FilePart,
        given: Demand,  # noqa: ARG002 - for the worker only
    ) -> Iterator[Findings]:
        """Add the result of the next range; yield its problems with their places."""
        local, merge = self.local, self.local.merge
        findings = placed(answer.findings, merge.records, ranges.lines)
        merge.add(answer, lines=ranges.lines)
        if local.repeated_ids is not None:
            local.repeated_ids.add_digests(answer.digests)
        if local.across is not None:
            local.across.add(answer.across)
        yield findings
        assert part.unit is not None  # noqa: S101 - it has an answer
        ranges.move_on(part.unit.end, answer.lines)

    def note_left(self, reason: NotDone | None) -> None:
        """Count a range that a worker left to this process."""
        self.redone.count(reason)


@dataclass(frozen=True, slots=True)
class ValidationJob:
    """How the ranges of one file are validated: plain data."""

    plan: FilePlan

    def state(self) -> "_State":
        """Return what a worker starts with."""
        return _State(FileValidators(self.plan))


class _State(RangeState):
    """Validates one range after the other."""

    def run(self, frames: RangeFrames, given: Demand) -> UnitResult:
        """Validate the rows of a range; raises `TooManyFindings`."""
        validators, options = self.validators, self.validators.options
        collector = Collector(
            validators.rules,
            validators.plan.name,
            options.examples,
            lambda: given,
            is_sent=True,
            hides_values=options.redact,
        )
        found = _RangeResult()
        for frame in frames:
            if isinstance(frame, Chunk):
                rows = CutRows(frame, (), found.records)
                found.add(validate_rows(rows, validators, collector).result, frame)
            elif isinstance(frame, FramingFault):
                broken = Broken(frame, found.records)
                found.add(report_broken(broken, collector, options.max_row_bytes))
        return found.result(frames.lines, collector.take())


@dataclass(slots=True)
class _RangeResult:
    """The results of the chunks of a range, added up."""

    records: int = 0
    invalid: int = 0
    undetermined: int = 0
    unreported: set[str] = field(default_factory=set)
    blanks: int = 0
    first_blank: Cursor | None = None
    digests: list[UnitResult] = field(default_factory=list)
    across: "list[tuple[array[int], ...]]" = field(default_factory=list)
    held: dict[str, RecordSet] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    line_ends: tuple[Cursor | None, Cursor | None] = (None, None)
    lengths: "LengthCounts | None" = None
    last: Chunk | None = None

    def add(self, found: UnitResult, chunk: Chunk | None = None) -> None:
        """Add the result of the next rows."""
        self.invalid |= int.from_bytes(found.invalid, "little") << self.records
        self.undetermined |= (
            int.from_bytes(found.undetermined, "little") << self.records
        )
        self.unreported.update(found.unreported)
        for key, bits in found.held.items():
            self.held.setdefault(key, RecordSet()).put(bits, self.records)
        add_counts(self.counts, found.counts)
        self.records += found.records
        self.blanks += found.blanks
        self.first_blank = self.first_blank or found.first_blank
        if found.digests:
            self.digests.append(found)
        if any(found.line_ends):
            lf, crlf = self.line_ends
            self.line_ends = lf or found.line_ends[0], crlf or found.line_ends[1]
        if found.across:
            self.across.append(found.across)
        if found.lengths is not None:
            from harpia_formats.model.bins import joined_lengths  # noqa: PLC0415 - only where lengths are counted: start-up time

            self.lengths = joined_lengths(self.lengths, found.lengths)
        if chunk is not None and found.records:
            self.last = chunk

    def result(self, lines: int, findings: Findings) -> UnitResult:
        """Return the result of the whole range, which has so many lines."""
        found = UnitResult(
            self.records,
            _bytes_of(self.invalid),
            _bytes_of(self.undetermined),
            tuple(sorted(self.unreported)),
            lines,
            self._last_line(),
            self.blanks,
            self.first_blank,
            across=joined_digests(self.across),
            held={key: bytes(records.bits) for key, records in self.held.items()},
            counts=self.counts,
            line_ends=self.line_ends,
            lengths=self.lengths,
            findings=findings,
        )
        for part in self.digests:
            found.digests.extend(part.digests)
        return found

    def _last_line(self) -> int:
        """Return the line in which the last record ends, 0 without a record."""
        if self.last is None:
            return 0
        rows = self.last.rows
        number = max(index for index, row in enumerate(rows) if not is_blank(row))
        return self.last.start_of(number).after(rows[number]).line


def _bytes_of(bits: int) -> bytes:
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")
