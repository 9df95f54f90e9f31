"""The findings on a part of a file: plain data that another process can send.

Rows are known by their numbers, findings that many rows share are grouped once, and of
one row only so many are reported.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Path, Problem, Severity, pointer_of
from harpia_formats.model.report import FileCount
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import GroupKey

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.model.bins import LengthCounts
    from harpia_formats.validation.diagnosis.root_causes import (
        Cause,
        Finding,
        SharedFindings,
    )


#: The set that holds only record 1, as bits.
FIRST_RECORD = b"\x02"


class RecordSet(msgspec.Struct):
    """A set of record numbers, counted from 1, that needs a bit for each record."""

    bits: bytearray = msgspec.field(default_factory=bytearray)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self.bits) and bool(self.bits[place] >> (number & 7) & 1)

    def add(self, number: int) -> None:
        """Add a number."""
        place = number >> 3
        if place >= len(self.bits):
            self.bits += bytes(place + 1 - len(self.bits))
        self.bits[place] |= 1 << (number & 7)

    def discard(self, number: int) -> None:
        """Remove a number if it is there."""
        if number in self:
            self.bits[number >> 3] ^= 1 << (number & 7)

    def put(self, found: bytes, before: int) -> None:
        """Add numbers, given as bits, that are counted from `before` on."""
        bits = int.from_bytes(found, "little") << (before & 7)
        if not bits:
            return
        place, size = before >> 3, (bits.bit_length() + 7) // 8
        end = place + size
        if end > len(self.bits):
            self.bits += bytes(end - len(self.bits))
        bits |= int.from_bytes(self.bits[place:end], "little")
        self.bits[place:end] = bits.to_bytes(size, "little")

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int.from_bytes(self.bits, "little").bit_count()


class RecordNumbers:
    """The numbers of the records in the rows of a chunk; blank rows have none."""

    def __init__(self, before: int, blank: list[int]) -> None:
        """Take the number of records before the chunk, and its blank rows in order."""
        self.before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self.before + row + 1 - bisect_left(self._blank, row)


#: The rules on records that got no verdict, which are neither valid nor invalid.
NO_VERDICT = frozenset({"V901", "V902"})
#: Sets of causes, and pointers, that are remembered.
_REMEMBERED = 1024


@lru_cache(_REMEMBERED)
def group_pointer(path: Path) -> str:
    """Return the pointer of a group: array indices are `*`."""
    return pointer_of(path, wildcard=True)


class SharedGroups(msgspec.Struct):
    """The groups of findings that many rows share, and how many rows are counted."""

    #: The rule and the group of each finding whose rule is active.
    groups: list[tuple[Rule, GroupKey]]
    #: Whether one of the rules makes a record invalid.
    is_error: bool
    #: Whether none of the findings needs a description, until it is asked again.
    is_counted: bool = False
    #: Rows whose findings are not in any other count yet.
    rows: int = 0


class _Known(msgspec.Struct, frozen=True):
    """Causes that many rows share, and the groups of their findings."""

    causes: "tuple[Cause, ...]"
    #: Paths of values of a wrong type, of which a null is a group of its own.
    typed: tuple[Path, ...]
    #: The groups, by which of these values are null.
    groups: dict[tuple[bool, ...], SharedGroups] = msgspec.field(default_factory=dict)


class KnownGroups:
    """Remembers the groups of shared findings on the rows of one file."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """Take the active rules by their codes."""
        self._rules = rules
        #: By the identity of the causes: these, where a type is wrong, and the groups.
        self._known: dict[tuple[int, Path], _Known] = {}

    def of(self, found: "SharedFindings", prefix: Path) -> SharedGroups:
        """Return the groups of findings; `prefix` is the path of rows in records."""
        known = self._known.get((id(found.causes), prefix))
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            # The causes are held, so that no others get their identity.
            known = _Known(found.causes, found.typed_paths())
            self._known[id(found.causes), prefix] = known
        nulls = found.nulls_at(known.typed) if known.typed else ()
        groups = known.groups.get(nulls)
        if groups is None:
            groups = known.groups[nulls] = self._groups(found, prefix)
        return groups

    def _groups(self, found: "SharedFindings", prefix: Path) -> SharedGroups:
        active = [one for one in found.findings() if one.code in self._rules]
        groups = [(self._rules[one.code], group_of(one, prefix)) for one in active]
        is_error = any(rule.severity is Severity.ERROR for rule, _ in groups)
        return SharedGroups(groups, is_error)


def group_of(finding: "Finding", prefix: Path) -> GroupKey:
    """Return the group of a finding; `prefix` is the path of its row in its record."""
    path = (*prefix, *finding.path) if prefix else finding.path
    return (finding.code, group_pointer(path), finding.cause)


#: The rules on rows with more schema errors, and more other findings, than these.
MORE_ERRORS, MORE_FINDINGS = "S106", "S107"
#: Findings of one kind of check on one row that are reported at most.
FINDINGS = 1_000
#: Values of a row that is validated as a whole: it cannot have very many errors.
VALUES = 5_000


def is_wide(row: Any, most: int | None = None) -> bool:
    """Return whether a row has so many values that it may have very many errors.

    It has at most so many, if that is known.
    """
    return (most is None or most > VALUES) and values_in(row) > VALUES


def values_in(value: Any) -> int:
    """Return how many values are inside of a value, in all levels."""
    found, inner = 0, [value]
    while inner:
        members = inner.pop()
        if isinstance(members, dict):
            members = members.values()
        elif not isinstance(members, list):
            continue
        found += len(members)
        inner += [one for one in members if isinstance(one, (dict, list))]
    return found


def at_most(findings: "Iterator[Finding]", what: str) -> "Iterator[Finding]":
    """Yield findings on one row, at most `FINDINGS`, then one that there are more.

    That one says `what` they are.
    """
    last = None
    for last in islice(findings, FINDINGS):
        yield last
    if last is not None and next(findings, None) is not None:
        yield more_findings(MORE_FINDINGS, last.row, what)


def more_findings(code: str, row: int, what: str, value: Any = None) -> "Finding":
    """Return the finding that more is wrong with a row than is reported."""
    from harpia_formats.model.format import Remark  # noqa: PLC0415 - imported only where a row has a problem
    from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

    message = f"the record has more {what} than the {FINDINGS:,} that are looked for"
    help_ = "correct the others, and validate it again"
    return Finding(code, row, Remark(code, (), message, help_), value)


class Findings(msgspec.Struct, frozen=True):
    """Problems of some rows: exact counts, and those that may serve as examples."""

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    #: Described problems, a tuple for each row, each with its group.
    described: tuple[tuple[tuple[GroupKey, Problem], ...], ...] = ()
    #: How many further problems each group has.
    counted: tuple[tuple[GroupKey, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.described or self.counted)


NO_FINDINGS = Findings()
#: What is reported of rows that killed two workers, and never run in this process.
KILLED = "V901"
KILLED_HELP = "see that there is memory enough, or look for what is special about them"
#: Counts of one file that are kept, and the key that stands for more of them.
MOST_COUNTS, UNCOUNTED = 10_000, ""


class UnitResult(msgspec.Struct, frozen=True):
    """What was found in a unit; its records are numbered from 1."""

    records: int = 0
    #: Sets of record numbers, as bits: invalid ones, and ones without a verdict.
    invalid: bytes = b""
    undetermined: bytes = b""
    #: The codes of rules that leave records without a verdict and are not reported.
    unreported: tuple[str, ...] = ()
    #: Lines that end in the unit.
    lines: int = 0
    #: The line in which the last record ends, 0 without a record.
    last_line: int = 0
    blanks: int = 0
    first_blank: Cursor | None = None
    #: Digests of the ids of the records, 8 bytes each.
    digests: "array[int]" = msgspec.field(default_factory=lambda: array("Q"))
    #: What each rule across rows compares of the records, as digests.
    across: "tuple[array[int], ...]" = ()
    #: Sets of record numbers, as bits: those with a remark whose case the whole file
    #: decides, by `held_key`.
    held: dict[str, bytes] = msgspec.field(default_factory=dict)
    #: What lints of the file count.
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    #: The first LF and the first CRLF, if they are looked for and there are any.
    line_ends: tuple[Cursor | None, Cursor | None] = (None, None)
    #: The lengths of rows in bytes, if they are counted.
    lengths: "LengthCounts | None" = None
    #: Whether nothing more is to be validated, because the first error was found.
    stopped: bool = False
    #: The problems, if they were not collected by the process that asked.
    findings: Findings = msgspec.field(default_factory=Findings)


class FileResult(msgspec.Struct, frozen=True):
    """What was found in a whole file."""

    plan: FilePlan
    count: FileCount
    findings: Findings
    invalid: bytes
    undetermined: bytes
    #: The number of the last record that was validated.
    until: int
    #: Whether all records were validated.
    whole: bool
    #: The names that files may have that are checked against it; None if not known.
    names: tuple[str, ...] | None = None
    #: What lints of the file count, and what they find if it has no companion.
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    pending: Findings = NO_FINDINGS


class TooMuch(msgspec.Struct, frozen=True):
    """There are more findings than are worth sending to another process."""


class FileNotSeen(msgspec.Struct, frozen=True):
    """The worker cannot read the file, or sees another one."""

    reason: str


class RedoneUnits(msgspec.Struct):
    """How many units the main process validated, because no worker did."""

    #: Units with more findings than are worth sending.
    too_many_findings: int = 0
    #: Units of files that a worker could not read, or saw with other content.
    files_not_seen: int = 0

    def count(self, answer: object) -> None:
        """Count a unit by the answer of its worker."""
        self.too_many_findings += isinstance(answer, TooMuch)
        self.files_not_seen += isinstance(answer, FileNotSeen)

    def lines(self) -> list[str]:
        """Return a sentence for each reason that applied."""
        sentences = []
        if self.too_many_findings:
            number = f"{self.too_many_findings:,}"
            sentences.append(
                f"units validated by the main process for too many findings: {number}"
            )
        if self.files_not_seen:
            number = f"{self.files_not_seen:,}"
            sentences.append(
                "units validated by the main process because a worker did not see "
                f"the file: {number}"
            )
        return sentences


class InternalFault(msgspec.Struct, frozen=True):
    """An error in harpia-formats itself: its type, message and place in the code."""

    error: str


#: What a worker answers to the work on a file.
FileAnswer = FileResult | TooMuch | FileNotSeen | InternalFault


def internal_fault(error: BaseException) -> InternalFault:
    """Return `error` as plain data, with the innermost place in the code."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "?")
        place = f" ({module}.{code.co_name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return InternalFault(f"{type(error).__name__}: {error}{place}")


def add_counts(counts: dict[str, int], more: Mapping[str, int]) -> None:
    """Add to `counts` those of further rows; of too many, nothing is known."""
    if not more:
        return
    for key, number in more.items():
        counts[key] = counts.get(key, 0) + number
    if len(counts) > MOST_COUNTS or UNCOUNTED in counts:
        counts.clear()
        counts[UNCOUNTED] = 1


def joined_digests(
    parts: "Sequence[tuple[array[int], ...]]",
) -> "tuple[array[int], ...]":
    """Return the digests of each rule across rows, of all parts together."""
    if len(parts) < 2:  # noqa: PLR2004 - nothing to join
        return parts[0] if parts else ()
    found = []
    for each in zip(*parts, strict=True):
        joined = array("Q")
        for digests in each:
            joined.extend(digests)
        found.append(joined)
    return tuple(found)


def unvalidated(records: int) -> UnitResult:
    """Return the result of so many records none of which could be validated."""
    bits = ((1 << records) - 1) << 1
    size = (bits.bit_length() + 7) // 8
    return UnitResult(records=records, undetermined=bits.to_bytes(size, "little"))
