"""Answer units of work in any process, with plain data."""

import threading
from array import array
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from harpia_formats.files.framing.chunk import Chunk, Cursor, is_blank
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.source import Source
from harpia_formats.files.workers.same_file import difference_from
from harpia_formats.formats.detection.splittable import splittable_size
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.report import FileCount
from harpia_formats.validation.companion_names import names_beside
from harpia_formats.validation.merge.tally import count_findings, joined
from harpia_formats.validation.one_file import (
    FileSettings,
    note_end,
    opened,
    validate_open,
)
from harpia_formats.validation.parallel.unit_bytes import unit_frames, unit_reader
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import (
    Broken,
    CutRows,
    Demand,
    GroupKey,
    RowRange,
    WholeFile,
)
from harpia_formats.validation.unit.broken import report_broken
from harpia_formats.validation.unit.collector import (
    DESCRIBED_LIMIT,
    GROUP_LIMIT,
    Collector,
    TooManyFindings,
)
from harpia_formats.validation.unit.record_numbers import RecordSet
from harpia_formats.validation.unit.result import (
    FileAnswer,
    FileNotSeen,
    FileResult,
    Findings,
    InternalFault,
    TooMuch,
    UnitAnswer,
    UnitResult,
    add_counts,
    internal_fault,
    joined_digests,
)
from harpia_formats.validation.unit.rows import validate_rows
from harpia_formats.validation.unit.validators import FileValidators, SharedValidators

if TYPE_CHECKING:  # most runs count no lengths: start-up time
    from harpia_formats.model.bins import LengthCounts

_Answer = TypeVar("_Answer")
_End = TypeVar("_End")


class _Cache(threading.local):
    """The validators of what this thread worked on last."""

    #: Those of the large file whose plan they have.
    validators: FileValidators | None = None
    #: Those of the small files of a run.
    shared: SharedValidators

    def __init__(self) -> None:
        self.shared = SharedValidators()


#: It changes speed only: validators that learned give the verdicts of new ones.
_cache = _Cache()


class _NotSeenError(Exception):
    """The file is not the one that was planned: its content or size differs."""


def prepare(validators: FileValidators) -> None:
    """Let worker processes that are forked from this one use its trained decoder."""
    copied = FileValidators(validators.plan)
    copied.part().validator.learn_from(validators.part().validator)
    _cache.validators = copied


def answer_range(plan: FilePlan, unit: RowRange, demand: Demand) -> UnitAnswer:
    """Return what was found in whole rows of a file, or why nothing was."""
    return _answered(lambda: _range(plan, unit, demand))


def answer_files(files: tuple[WholeFile, ...]) -> list[FileAnswer]:
    """Return what was found in each file, or why nothing was."""
    return [_answered(lambda: _file(file)) for file in files]  # noqa: B023 - called at once


def _answered(
    run: Callable[[], _Answer],
) -> "_Answer | TooMuch | FileNotSeen | InternalFault":
    """Return what `run` returns, or what its exception means."""
    try:
        return run()
    except TooManyFindings:
        answer: TooMuch | FileNotSeen | InternalFault = TooMuch()
    except _NotSeenError as error:
        answer = FileNotSeen(str(error))
    except (OSError, SourceError) as error:
        reason = error.reason if isinstance(error, SourceError) else error_reason(error)
        answer = FileNotSeen(reason)
    except Exception as error:  # noqa: BLE001 - an error of ours, which the main process reports as V902
        answer = internal_fault(error)
    # The validators may be left in an unfinished state.
    _cache.validators = None
    _cache.shared.forget()
    return answer


def _validators_for(plan: FilePlan) -> FileValidators:
    """Return the validators of a plan. Raises `_NotSeenError` for another file."""
    found = _cache.validators
    if found is None or found.plan.key != plan.key:
        if plan.fingerprint is not None:
            difference = difference_from(plan.fingerprint)
            if difference:
                raise _NotSeenError(difference)
        found = _cache.validators = FileValidators(plan)
    return found


def _range(plan: FilePlan, unit: RowRange, demand: Demand) -> UnitResult:
    """Validate the rows of a range."""
    validators = _validators_for(plan)
    options = validators.options
    collector = Collector(
        validators.rules,
        plan.name,
        options.examples,
        lambda: demand,
        is_sent=True,
        hides_values=options.redact,
    )
    reader = unit_reader(plan.name, unit)
    found = _RangeResult()
    for frame in unit_frames(unit, reader, options.max_row_bytes):
        if isinstance(frame, Chunk):
            rows = CutRows(frame, (), found.records)
            found.add(validate_rows(rows, validators, collector).result, frame)
        else:
            broken = Broken(frame, found.records)
            found.add(report_broken(broken, collector, options.max_row_bytes))
    if reader.consumed != reader.total:
        raise _NotSeenError(f"it has fewer bytes than {unit.end:,}")
    return found.result(reader.lines, collector.take())


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


@dataclass(slots=True)
class _FindingLog:
    """The findings of a whole file, limited to what is worth sending."""

    count: FileCount
    #: Examples that are wanted of each group; 0 for all.
    examples: int
    found: list[Findings] = field(default_factory=list)
    _described: int = 0
    _times: dict[GroupKey, int] = field(default_factory=dict)
    _satisfied: set[GroupKey] = field(default_factory=set)

    def demand(self) -> Demand:
        """Return which problems need no description any more."""
        return Demand(self._satisfied)

    def take(self, flow: Generator[Findings, None, _End]) -> _End:
        """Add all that `flow` yields; return what it returns.

        Raises `TooManyFindings`.
        """
        while True:
            try:
                self._add(next(flow))
            except StopIteration as stop:
                end: _End = stop.value
                return end

    def _add(self, findings: Findings) -> None:
        count_findings(self.count, findings)
        if not findings:
            return
        self.found.append(findings)
        self._described += sum(map(len, findings.described))
        for row in findings.described:
            for group, _ in row:
                times = self._times[group] = self._times.get(group, 0) + 1
                if self.examples and times >= self.examples:
                    self._satisfied.add(group)
        if self._described > DESCRIBED_LIMIT or len(self._times) > GROUP_LIMIT:
            raise TooManyFindings


def _source_of(file: WholeFile) -> Source:
    return Source(file.name, file.origin, file.is_found, all_unpackers())


def _file(file: WholeFile) -> FileResult:
    """Validate a file from its beginning to its end."""
    run = file.run
    count, source = FileCount(file.name), _source_of(file)
    if file.size is not None and splittable_size(file.origin) != file.size:
        raise _NotSeenError(f"it does not have {file.size:,} bytes")
    log = _FindingLog(count, run.options.examples)
    with opened(source, count, run.block_bytes()) as open_file:
        settings = FileSettings(demand=log.demand, shared=_cache.shared)
        local = log.take(validate_open(open_file, run, settings))
        note_end(open_file, local.merge)
        merge, error = local.merge, open_file.blocks.error
    if file.size is not None and count.reason is not None:
        raise _NotSeenError(count.reason)
    return FileResult(
        merge.plan,
        count,
        joined(log.found),
        bytes(merge.outcomes.invalid.bits),
        bytes(merge.outcomes.undetermined.bits),
        until=merge.records,
        whole=not (merge.stopped or merge.has_gaps or error),
        names=names_beside(local, file.name),
        counts=merge.counts,
        pending=merge.pending,
    )
