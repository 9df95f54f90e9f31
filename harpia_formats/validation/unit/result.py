"""The answers to a unit of work: plain data, which crosses between processes."""

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import GroupKey

if TYPE_CHECKING:  # most runs count no lengths: start-up time
    from harpia_formats.model.bins import LengthCounts


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


#: What a worker answers.
UnitAnswer = UnitResult | TooMuch | FileNotSeen | InternalFault
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
