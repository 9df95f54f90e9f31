"""Validate rows that were cut: records of a file, or items of a column."""

from array import array
from collections import Counter
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.framing.chunk import Chunk, NullRows, rows_with_nulls
from harpia_formats.formats.rules.json_rules import MIXED_LINE_ENDS
from harpia_formats.validation.dedup.digests import digests_of
from harpia_formats.validation.plan.units import CutRows
from harpia_formats.validation.unit.collector import (
    Collector,
    LineEnds,
    line_ends_of,
)
from harpia_formats.validation.unit.findings import (
    MORE_ERRORS,
    MORE_FINDINGS,
    NO_VERDICT,
    RecordNumbers,
    RecordSet,
    UnitResult,
    add_counts,
    internal_fault,
    joined_digests,
)
from harpia_formats.validation.unit.row_checks import Disagreement, Verdict
from harpia_formats.validation.unit.validators import FileValidators, RowPart

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.model.bins import LengthCounts
    from harpia_formats.validation.diagnosis.root_causes import Finding, SharedFindings

#: The rules on rows of which not all findings are known.
_MORE = frozenset({MORE_ERRORS, MORE_FINDINGS})
INTERNAL_ERROR = "V902"
#: Never added to: a result is not changed.
NO_DIGESTS = array("Q")


class ValidatedRows(msgspec.Struct, frozen=True):
    """Rows with what was found in them, for a consumer of valid rows."""

    part: RowPart
    #: The rows that were validated: fewer than were given after a first error.
    chunk: Chunk
    numbers: RecordNumbers
    verdict: Verdict
    result: UnitResult
    #: Indices of rows with an error or without a verdict, apart from blank ones.
    refused: frozenset[int]


def validate_rows(
    unit: CutRows, validators: FileValidators, collector: Collector
) -> ValidatedRows:
    """Return what was found in the rows of a unit; its problems go to `collector`."""
    part, chunk = validators.part(unit.path), unit.chunk
    if validators.plan.reads_nan:
        chunk = rows_with_nulls(chunk)
    try:
        # The first error is looked for among single findings.
        shares = not validators.options.fail_fast
        verdict = part.validator.validate(chunk, shares=shares)
        verdict = _linted(verdict, chunk, part, validators)
    except Exception:  # noqa: BLE001 - an error of ours, which is found and reported row by row
        verdict = _row_by_row(chunk, part, validators)
    if isinstance(chunk, NullRows):
        from harpia_formats.validation.unit.constants import note_constants  # noqa: PLC0415 - few rows have a NaN

        note_constants(chunk, verdict, collector)
    if not (verdict.findings or verdict.shared or validators.plan.unvalidated):
        numbers = RecordNumbers(unit.before, verdict.blank)
        result = _result(chunk, verdict, validators, collector, numbers)
        return ValidatedRows(part, chunk, numbers, verdict, result, frozenset())
    return _with_findings(unit.before, chunk, verdict, part, validators, collector)


def _with_findings(  # noqa: PLR0913, PLR0917 - a finding is placed by all of these
    before: int,
    chunk: Chunk,
    verdict: Verdict,
    part: RowPart,
    validators: FileValidators,
    collector: Collector,
) -> ValidatedRows:
    """Return what was found in rows of which some may not be valid."""
    stopped, shared = False, verdict.shared or []
    active = [
        finding for finding in verdict.findings if finding.code in collector.rules
    ]
    # A row without a verdict is not valid, even if the rule that says so is not active.
    unread = {
        finding.row
        for finding in verdict.findings
        if finding.is_fault
        or finding.code in NO_VERDICT
        or (finding.code in _MORE and not _is_error(finding.code, collector))
    }
    if validators.options.fail_fast:
        chunk, active, stopped = _until_first_error(chunk, active, collector)
        if stopped:
            blank = [row for row in verdict.blank if row < len(chunk)]
            verdict = msgspec.structs.replace(
                verdict, records=len(chunk) - len(blank), blank=blank, values=[]
            )
    if validators.plan.unvalidated:
        unread = set(range(len(chunk))) - set(verdict.blank)
    numbers = RecordNumbers(before, verdict.blank)
    open_rows = {row for row in unread if row < len(chunk)}
    invalid = _refused(active, open_rows, collector)
    for some in shared:
        if collector.groups_of(some, part.path).is_error:
            invalid.add(some.row)
    if active or shared:
        _collect(_by_row(active, shared), collector, chunk, numbers, part, validators)
    result = msgspec.structs.replace(
        _result(chunk, verdict, validators, collector, numbers),
        invalid=_bits(invalid, numbers, before),
        undetermined=_bits(open_rows, numbers, before),
        unreported=_unreported(verdict.findings, open_rows - invalid, collector),
        stopped=stopped,
    )
    refused = frozenset(invalid | open_rows)
    return ValidatedRows(part, chunk, numbers, verdict, result, refused)


def _is_error(code: str, collector: Collector) -> bool:
    """Return whether a rule, which need not be active, makes a record invalid."""
    return code in collector.rules and collector.is_error(code)


def _unreported(
    findings: "list[Finding]", open_rows: set[int], collector: Collector
) -> tuple[str, ...]:
    """Return the codes that leave rows without a verdict and are not reported."""
    codes = {
        finding.code
        for finding in findings
        if finding.row in open_rows
        and (finding.is_fault or finding.code in NO_VERDICT | _MORE)
    }
    return tuple(sorted(codes - collector.rules.keys()))


def _refused(
    findings: "list[Finding]", open_rows: set[int], collector: Collector
) -> set[int]:
    """Return the rows that findings make invalid; add those without a verdict."""
    invalid = set()
    for finding in findings:
        if finding.code in NO_VERDICT:
            open_rows.add(finding.row)
        elif collector.is_error(finding.code):
            invalid.add(finding.row)
    return invalid


def _result(
    chunk: Chunk,
    verdict: Verdict,
    validators: FileValidators,
    collector: Collector,
    numbers: RecordNumbers,
) -> UnitResult:
    """Return the result of a chunk of valid rows, without its findings."""
    rows = len(chunk)
    line_ends: LineEnds = (None, None)
    if MIXED_LINE_ENDS in collector.rules and chunk.lines:
        line_ends = line_ends_of(chunk)
    return UnitResult(
        records=verdict.records,
        blanks=len(verdict.blank),
        first_blank=chunk.start_of(verdict.blank[0]) if verdict.blank else None,
        digests=digests_of(verdict.keys) if verdict.keys else NO_DIGESTS,
        across=verdict.across,
        held={
            key: _bits({row for row in found if row < rows}, numbers, numbers.before)
            for key, found in verdict.held.items()
        },
        counts=verdict.counts,
        line_ends=line_ends,
        lengths=(
            _lengths_of(chunk, verdict) if validators.options.row_lengths else None
        ),
    )


def _lengths_of(chunk: Chunk, verdict: Verdict) -> "LengthCounts":
    """Return the lengths of the rows as they are in the file, without blank ones."""
    from harpia_formats.model.bins import LengthCounts  # noqa: PLC0415 - only where lengths are counted: start-up time

    found, rows = LengthCounts(), chunk.texts
    counts = Counter(map(len, rows))
    counts.subtract(len(rows[blank]) for blank in verdict.blank)
    for length, times in counts.items():
        if times:
            found.add(length, times)
    return found


def _bits(rows: set[int], numbers: RecordNumbers, before: int) -> bytes:
    """Return the numbers of records in these rows as bits, counted from 1."""
    if not rows:
        return b""
    found = RecordSet()
    for row in rows:
        found.add(numbers.of(row) - before)
    return bytes(found.bits)


def _until_first_error(
    chunk: Chunk, findings: "list[Finding]", collector: Collector
) -> "tuple[Chunk, list[Finding], bool]":
    """Return the rows and findings up to the first error, and whether there is one."""
    for number, finding in enumerate(findings):
        if collector.is_error(finding.code):
            return chunk.first(finding.row + 1), findings[: number + 1], True
    return chunk, findings, False


def _collect(  # noqa: PLR0913, PLR0917 - a finding is placed by all of these
    findings: "list[Finding | SharedFindings]",
    collector: Collector,
    chunk: Chunk,
    numbers: RecordNumbers,
    part: RowPart,
    validators: FileValidators,
) -> None:
    """Add the findings on the rows of a chunk to the collector."""
    from harpia_formats.validation.diagnosis.row_context import RowContext  # noqa: PLC0415 - imported only where a row has a problem

    def row_of(finding: "Finding") -> RowContext:
        return RowContext(
            path=collector.name,
            text=chunk.texts[finding.row],
            start=chunk.start_of(finding.row),
            number=numbers.of(finding.row),
            value=finding.value,
            id_key=validators.id_key,
            prefix=part.path,
        )

    collector.add_row_findings(findings, row_of, part.schema, part.path)


def _by_row(
    findings: "list[Finding]", shared: "list[SharedFindings]"
) -> "list[Finding | SharedFindings]":
    """Return findings in order of their rows; both lists are in that order."""
    return sorted([*findings, *shared], key=attrgetter("row"))


def _row_by_row(chunk: Chunk, part: RowPart, validators: FileValidators) -> Verdict:
    """Return the verdict on a chunk; an internal error is a finding on its row."""
    # What the validator learned may be incomplete.
    validators.forget(part.path)
    found, across = Verdict(records=0), []
    for row, text in enumerate(chunk.rows):
        single = Chunk(text, chunk.start_of(row), [text])
        try:
            again = validators.part(part.path)
            verdict = again.validator.validate(single)
            verdict = _linted(verdict, single, again, validators)
        except Exception as error:  # noqa: BLE001 - an error of ours, reported as V902
            validators.forget(part.path)
            verdict = Verdict(records=1, findings=[internal_error(error)])
        found.records += verdict.records
        found.blank += [row for _ in verdict.blank]
        found.findings += [replace(finding, row=row) for finding in verdict.findings]
        found.keys += verdict.keys
        across += [verdict.across] if verdict.across else []
        for key in verdict.held:
            found.held.setdefault(key, []).append(row)
        add_counts(found.counts, verdict.counts)
    found.across = joined_digests(across)
    return found


def _linted(
    verdict: Verdict, chunk: Chunk, part: RowPart, validators: FileValidators
) -> Verdict:
    """Return the verdict on a chunk with what lints find in it."""
    linter = validators.linter(part.path)
    if linter is not None:
        linter.check(chunk, verdict, part.validator.decoder)
    return verdict


def internal_error(error: Exception) -> "Finding":
    """Return an error in harpia-formats as a finding on its row."""
    from harpia_formats.model.format import Remark  # noqa: PLC0415 - for internal errors only
    from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - for internal errors only

    cause = (
        str(error) if isinstance(error, Disagreement) else internal_fault(error).error
    )
    remark = Remark(
        INTERNAL_ERROR,
        (),
        f"harpia-formats failed on this record: {cause}",
        "please report it as a bug, with the record",
    )
    return Finding(INTERNAL_ERROR, 0, remark)
