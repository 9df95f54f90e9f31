"""Validate the records of a table by its header and a schema."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.parsing.csv_blocks import TableBlank, TableFault, TableRow
from harpia_formats.files.parsing.csv_delimiter import (
    DELIMITERS,
    WIDE_DELIMITERS,
    named,
)
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.model.column_map import CORRECT_MAP, check_columns_exist
from harpia_formats.model.describe import with_noun
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Place
from harpia_formats.validation.diagnosis.root_causes import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.plan.units import TableRows
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import (
    NO_VERDICT,
    RecordSet,
    UnitResult,
    add_counts,
)
from harpia_formats.validation.unit.row_checks import Verdict
from harpia_formats.validation.unit.rows import INTERNAL_ERROR, internal_error
from harpia_formats.validation.unit.validators import FileValidators

if TYPE_CHECKING:  # only if rules are selected that are not checked by default
    from harpia_formats.validation.unit.across_values import Compared
    from harpia_formats.validation.unit.row_linter import RowLinter

FIELD_COUNT, REPEATED_COLUMN, OTHER_DELIMITER = "J304", "J305", "J306"
#: How the first line begins where JSON is read as a table, and what helps then.
_json_beginnings = (b"{", b"[")
_if_json = (
    "if the file is JSON, name its format with `--from`: `json` for rows with any keys"
)


class TableRecord(msgspec.Struct, frozen=True):
    """A record of a table, for a consumer of valid rows."""

    row: TableRow
    #: Its number in the file.
    number: int
    #: Its fields by the names of their columns; None if it is not valid.
    value: dict[str, str] | None


@dataclass(slots=True)
class ValidatedTable:
    """What was found in a part of a table."""

    #: The names of the columns, once the header was read.
    columns: tuple[str, ...]
    #: Whether rows can be validated by the header.
    is_usable: bool
    #: The records with their fields, if there is a consumer.
    records: list[TableRecord] = field(default_factory=list)
    #: The bytes of records with a fault; None for one that is longer than is held.
    faulty: list[bytes | None] = field(default_factory=list)
    #: How many pieces were validated: fewer than were given after a problem.
    pieces: int = 0
    blanks: int = 0
    first_blank: Cursor | None = None
    #: The last record that could be cut.
    last: TableRow | None = None
    stopped: bool = False
    result: UnitResult = field(default_factory=UnitResult)


def validate_table(
    unit: TableRows,
    validators: FileValidators,
    collector: Collector,
    *,
    has_consumer: bool = False,
) -> ValidatedTable:
    """Return what was found in a part of a table; its problems go to `collector`.

    With a consumer, the part ends with the first piece that has a problem, so that the
    order of reports does not depend on how many records are validated together.
    """
    found = ValidatedTable(unit.columns, unit.is_usable)
    rows = _TableValidator(validators, collector, unit.before, found, has_consumer)
    for piece in unit.pieces:
        found.pieces += 1
        if isinstance(piece, TableBlank):
            found.first_blank = found.first_blank or piece.start
            found.blanks += piece.lines
        elif isinstance(piece, TableFault):
            rows.fault(piece)
        elif not found.columns:
            rows.header(piece)
        else:
            rows.row(piece)
        if found.stopped or (has_consumer and collector.has_problems):
            break
    # After an error in the last record, the file was read to its end.
    found.stopped &= found.pieces < len(unit.pieces)
    found.result = UnitResult(
        records=rows.records,
        invalid=bytes(rows.invalid.bits),
        undetermined=bytes(rows.undetermined.bits),
        unreported=tuple(sorted(rows.unreported)),
        blanks=found.blanks,
        first_blank=found.first_blank,
        across=rows.across(),
        held={key: bytes(records.bits) for key, records in rows.held.items()},
        counts=rows.counts,
        stopped=found.stopped,
    )
    return found


@dataclass(slots=True)
class _TableValidator:
    """Validates the pieces of a table one after the other."""

    validators: FileValidators
    collector: Collector
    #: Records of the file before the first piece.
    before: int
    found: ValidatedTable
    #: Whether a consumer takes the records.
    has_consumer: bool
    #: Records that were read, and which of them are not valid, from 1.
    records: int = 0
    invalid: RecordSet = field(default_factory=RecordSet)
    undetermined: RecordSet = field(default_factory=RecordSet)
    #: The codes of rules that leave records without a verdict and are not reported.
    unreported: set[str] = field(default_factory=set)
    #: Checks the records by lints, if there are any.
    linter: "RowLinter | None" = None
    #: What rules across rows compare of them.
    compared: "list[list[Compared | None]]" = field(default_factory=list)
    #: The records with a remark whose case the whole file decides, and what is counted.
    held: dict[str, RecordSet] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.linter = self.validators.linter()

    def header(self, row: TableRow) -> None:
        """Take the names of the columns, and validate them as an empty record.

        Raises `MapError` if records are read and a mapped column is missing.
        """
        columns = self.found.columns = tuple(cell.text for cell in row.fields)
        if self.validators.plan.unvalidated:
            self.found.is_usable = False
            return
        mapped = self.validators.options.columns
        if mapped and self.has_consumer:
            check_columns_exist(mapped.values(), columns, self.collector.name)
        value = dict.fromkeys(columns, "")
        # What a schema of the user is about are the records only.
        verdict = Verdict() if self._is_of_user else self._verdict(value)
        findings = [*verdict.findings, *_of_columns(columns, self._delimiter)]
        self.found.is_usable = not any(
            finding.is_refusal or finding.code == INTERNAL_ERROR
            for finding in verdict.findings
        )
        variant = self.validators.variant
        remarks = variant.dialect.header_remarks if variant else None
        if self.found.is_usable and remarks is not None:
            findings += [
                Finding(remark.code, 0, remark, value) for remark in remarks(value)
            ]
        self._note_unreported(
            finding.code for finding in findings if finding.is_refusal
        )
        self._add(findings, row, None)

    def _note_unreported(self, codes: Iterable[str]) -> None:
        """Note which codes that leave records without a verdict are not reported."""
        self.unreported.update(set(codes) - self.collector.rules.keys())

    @property
    def _is_of_user(self) -> bool:
        """Whether records are objects that are validated by a schema of the user."""
        return self.validators.plan.run.schema is not None

    @property
    def _delimiter(self) -> str:
        """The character between the fields of the table."""
        return delimiter_of(self.validators.options.delimiter, self.collector.name)

    def row(self, row: TableRow) -> None:
        """Validate a record."""
        self.found.last = row
        self.records += 1
        number = self.before + self.records
        if not self.found.is_usable:
            self.undetermined.add(self.records)
            self._hand_on(row, number, None)
            return
        columns = self.found.columns
        if len(row.fields) != len(columns):
            # Also if the rule is not active, the record cannot be validated.
            self.undetermined.add(self.records)
            self._hand_on(row, number, None)
            wrong_count = _wrong_count(row, columns, self._delimiter)
            self._note_unreported([wrong_count.code])
            self._add([wrong_count], row, number)
            return
        texts = [cell.text for cell in row.fields]
        value = dict(zip(columns, texts, strict=True))
        # Of two columns with one name only one would be read.
        is_whole = len(value) == len(texts)
        if self._is_of_user:
            value = _filled(columns, row)
        findings = self._verdict(value).findings
        if self.linter is not None:
            findings = [*findings, *self._lint(value, findings)]
        if not findings:
            self._hand_on(row, number, value if is_whole else None)
            return
        is_valid = not any(
            self.collector.is_error(finding.code)
            for finding in findings
            if finding.code in self.collector.rules
        )
        self._hand_on(row, number, value if is_valid and is_whole else None)
        self._add(findings, row, number)

    def fault(self, fault: TableFault) -> None:
        """Report bytes that are not a record."""
        number, help_ = None, fault.help
        if fault.record and not self.found.columns:
            # The header is lost, so no row can be validated.
            self.found.columns, self.found.is_usable = ("",), False
            self._note_unreported([fault.code])
            if fault.text is not None and fault.text.startswith(_json_beginnings):
                help_ = _if_json
        elif fault.record:
            self.records += 1
            number = self.before + self.records
            self.found.faulty.append(fault.text)
            is_active = fault.code in self.collector.rules
            is_invalid = is_active and self.collector.is_error(fault.code)
            (self.invalid if is_invalid else self.undetermined).add(self.records)
            self._note_unreported([fault.code])
        start, name = fault.start, self.collector.name
        row = RowContext(name, fault.data, start, number, pieces=((fault.at, start),))
        column, width = start.column + 1, max(1, fault.width)
        place = Place(name, start.line, column, column + width, start.offset, number)
        excerpt = row.excerpt(fault.at, fault.at + width)
        self.collector.add(fault.code, fault.message, help_, place, excerpt)
        if self.validators.options.fail_fast and fault.code in self.collector.rules:
            self.found.stopped |= self.collector.is_error(fault.code)

    def _hand_on(
        self, row: TableRow, number: int, value: dict[str, str] | None
    ) -> None:
        """Keep a record for the consumer, if there is one."""
        if self.has_consumer:
            self.found.records.append(TableRecord(row, number, value))

    def _verdict(self, value: dict[str, Any]) -> Verdict:
        """Return the verdict on a record; an internal error is a finding on it."""
        validator = self.validators.part().validator
        verdict = Verdict()
        try:
            validator.validate_decoded(0, value, verdict)
            if self.found.columns and self.records:
                validator.confirm(value)
        except Exception as error:  # noqa: BLE001 - an error of ours, reported as V902
            self.validators.forget(())
            return Verdict(findings=[internal_error(error)])
        return verdict

    def _lint(self, value: dict[str, Any], findings: list[Finding]) -> list[Finding]:
        """Return what lints find in a record, and keep what is compared of it."""
        assert self.linter is not None  # noqa: S101 - asked before
        refused = [finding.path for finding in findings if finding.is_refusal]
        try:
            if self.linter.across:
                self.compared.append(self.linter.compared(value))
            add_counts(self.counts, self.linter.counts_of(value))
            found = self.linter.findings_in(0, value, refused)
            reported, held = self.linter.split(found)
            for key in held:
                self.held.setdefault(key, RecordSet()).add(self.records)
        except Exception as error:  # noqa: BLE001 - an error of ours, reported as V902
            return [internal_error(error)]
        return reported

    def across(self) -> "tuple[array[int], ...]":
        """Return what rules across rows compare of the records, as digests."""
        if self.linter is None or not self.compared:
            return ()
        return self.linter.digests(self.compared)

    def _add(self, findings: list[Finding], row: TableRow, number: int | None) -> None:
        """Collect the findings on a row, and note its outcome."""
        collector = self.collector
        active = [finding for finding in findings if finding.code in collector.rules]
        errors = [finding for finding in active if collector.is_error(finding.code)]
        if self.validators.options.fail_fast and errors:
            active = active[: active.index(errors[0]) + 1]
            self.found.stopped = True
        if number is not None and errors:
            undetermined = any(finding.code in NO_VERDICT for finding in errors)
            (self.undetermined if undetermined else self.invalid).add(self.records)
        spans = {
            name: (cell.start, cell.end)
            for name, cell in zip(self.found.columns, row.fields, strict=False)
        }

        def row_of(finding: Finding) -> RowContext:
            name, value = collector.name, finding.value
            return RowContext(name, row.data, row.start, number, value, spans=spans)

        schema = self.validators.schema
        if number is None and self.validators.options.columns:
            lacking = [each for each in active if not isinstance(each.about, Remark)]
            collector.add_findings(lacking, row_of, schema, also=CORRECT_MAP)
            active = [each for each in active if isinstance(each.about, Remark)]
        collector.add_findings(active, row_of, schema)


def _filled(columns: tuple[str, ...], row: TableRow) -> dict[str, str]:
    """Return a record as an object, without its fields that are blank."""
    cells = zip(columns, row.fields, strict=True)
    return {name: cell.text for name, cell in cells if cell.end > cell.start}


def _of_columns(columns: tuple[str, ...], delimiter: str) -> Iterator[Finding]:
    """Yield what is wrong with the header, whatever its columns are."""
    others = [mark for mark in DELIMITERS if mark != delimiter and mark in columns[0]]
    if len(columns) == 1 and others:
        message = f"the header is one column, with a {DELIMITERS[others[0]]} in it"
        help_ = f"separate fields by a {named(delimiter)}, or give `--delimiter`"
        remark = Remark(OTHER_DELIMITER, (columns[0],), message, help_)
        yield Finding(OTHER_DELIMITER, 0, remark)
    for name, times in Counter(columns).items():
        if times > 1:
            message = f'the column "{name}" is there {times} times'
            remark = Remark(REPEATED_COLUMN, (name,), message, "keep one of them")
            yield Finding(REPEATED_COLUMN, 0, remark)


def _wrong_count(row: TableRow, columns: tuple[str, ...], delimiter: str) -> Finding:
    """Return the finding on a record with too few or too many fields."""
    found, wanted = len(row.fields), len(columns)
    message = f"the record has {with_noun(found, 'field')}, the header {wanted:,}"
    help_ = f"put a field with a {named(delimiter)} or a line end in quotes"
    if found < wanted:
        help_ = "add the fields that are missing, blank if need be"
        texts = [field.text for field in row.fields]
        for wide in WIDE_DELIMITERS:
            if found + sum(text.count(wide) for text in texts) == wanted:
                help_ = f"write a {named(delimiter)} for each {named(wide)}"
    return Finding(FIELD_COUNT, 0, Remark(FIELD_COUNT, (), message, help_))
