"""Judge the records of a table by their header and a schema."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harpia_formats.framing.chunk import Cursor
from harpia_formats.model.format import Dialect, Remark
from harpia_formats.model.problem import PAUSE, Place, Problem
from harpia_formats.parsing.csv_records import (
    TableBlank,
    TableFault,
    TablePiece,
    TableRow,
)
from harpia_formats.schema.load import Schema
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.row_context import Row
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.row_validator import Judge, Verdict

if TYPE_CHECKING:  # only to convert
    from harpia_formats.reading.record_stream import RecordStream

FIELD_COUNT, REPEATED_COLUMN, OTHER_DELIMITER = "J304", "J305", "J306"
#: What other tables set fields apart with.
_delimiters = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(slots=True)
class TableInspection:
    """The inspection of one table, row by row."""

    speaker: Speaker
    outcomes: Outcomes
    judge: Judge
    schema: Schema
    dialect: Dialect | None
    #: Tells whether no more is wanted.
    has_enough: Callable[[], bool]
    #: Whether only the first error is wanted.
    fail_fast: bool = False
    #: Takes the records that are valid, if anybody wants them.
    stream: "RecordStream | None" = None
    columns: tuple[str, ...] = ()
    #: Whether the header is such that rows can be judged.
    judged: bool = True
    #: Where the first blank line is, and how many there are.
    first_blank: Cursor | None = None
    blanks: int = 0

    def problems(self, pieces: Iterator[TablePiece]) -> Iterator[Problem]:
        """Yield the problems that are kept."""
        for piece in pieces:
            if self.has_enough():
                return
            if isinstance(piece, TableBlank):
                self.first_blank = self.first_blank or piece.start
                self.blanks += 1
            elif isinstance(piece, TableFault):
                yield from self._fault(piece)
            elif not self.columns:
                yield from self._header(piece)
            else:
                yield from self._row(piece)
            if self.stream is not None and self.stream.pauses:
                yield PAUSE

    def _header(self, row: TableRow) -> Iterator[Problem]:
        """Take the names of the columns, and judge them as an empty record."""
        self.columns = tuple(each.text for each in row.fields)
        verdict = Verdict()
        value = dict.fromkeys(self.columns, "")
        self.judge.judge_decoded(0, value, verdict)
        findings = [*verdict.findings, *self._about_columns()]
        self.judged = not any(each.is_refusal for each in verdict.findings)
        remarks = self.dialect.header_remarks if self.dialect else None
        if self.judged and remarks is not None:
            findings += [Finding(each.code, 0, each, value) for each in remarks(value)]
        yield from self._said(findings, row, None)

    def _about_columns(self) -> Iterator[Finding]:
        """Yield what is odd about the header, whatever its columns are."""
        found = [each for each in _delimiters if each in self.columns[0]]
        if len(self.columns) == 1 and found:
            message = f"the header is one column, with {_delimiters[found[0]]} in it"
            help_ = "set fields apart with commas"
            remark = Remark(OTHER_DELIMITER, (self.columns[0],), message, help_)
            yield Finding(OTHER_DELIMITER, 0, remark)
        for name, times in Counter(self.columns).items():
            if times > 1:
                message = f'the column "{name}" is there {times} times'
                remark = Remark(REPEATED_COLUMN, (name,), message, "keep one of them")
                yield Finding(REPEATED_COLUMN, 0, remark)

    def _row(self, row: TableRow) -> Iterator[Problem]:
        number = self._next_number()
        if not self.judged:
            self.outcomes.note_open(number)
            return
        verdict = Verdict()
        if len(row.fields) != len(self.columns):
            verdict.findings.append(self._wrong_count(row))
            # Whether or not that is said, the record cannot be judged.
            self.outcomes.note_open(number)
            if self.stream is not None:
                self.stream.refuse(row.data)
        else:
            texts = [each.text for each in row.fields]
            value = dict(zip(self.columns, texts, strict=True))
            self.judge.judge_decoded(0, value, verdict)
            self.judge.confirm(0, value)
            if self.stream is not None:
                self._take(self.stream, verdict, value, row, number)
        yield from self._said(verdict.findings, row, number)

    def _take(
        self,
        stream: "RecordStream",
        verdict: Verdict,
        value: dict[str, str],
        row: TableRow,
        number: int,
    ) -> None:
        """Hand on the row if it is valid, or else its bytes."""
        active = (each.code for each in verdict.findings)
        if any(
            self.speaker.is_error(each) for each in active if each in self.speaker.rules
        ):
            stream.refuse(row.data)
        else:
            stream.cells(value, row, number)

    def _wrong_count(self, row: TableRow) -> Finding:
        found, wanted = len(row.fields), len(self.columns)
        fields = "field" if found == 1 else "fields"
        message = f"the record has {found:,} {fields}, the header {wanted:,}"
        help_ = "put a field with a comma or a line end in quotes"
        if found < wanted:
            help_ = "add the fields that are missing, blank if need be"
        return Finding(FIELD_COUNT, 0, Remark(FIELD_COUNT, (), message, help_))

    def _next_number(self) -> int:
        self.outcomes.count.records += 1
        return self.outcomes.count.records

    def _said(
        self, findings: list[Finding], row: TableRow, number: int | None
    ) -> Iterator[Problem]:
        active = [each for each in findings if each.code in self.speaker.rules]
        errors = [each for each in active if self.speaker.is_error(each.code)]
        if self.fail_fast and errors:
            active = active[: active.index(errors[0]) + 1]
        if number and errors:
            self.outcomes.note_wrong(number)
        spans = {
            name: (each.start, each.end)
            for name, each in zip(self.columns, row.fields, strict=False)
        }

        def row_of(finding: Finding) -> Row:
            path, value = self.speaker.path, finding.value
            return Row(path, row.data, row.start, number, value, spans=spans)

        yield from self.speaker.findings(active, row_of, self.schema)

    def _fault(self, fault: TableFault) -> Iterator[Problem]:
        number = None
        if fault.record and not self.columns:
            # The header is lost, so nothing can be said of the rows.
            self.columns, self.judged = ("",), False
        elif fault.record:
            number = self._next_number()
            wrong = fault.code in self.speaker.rules
            note = self.outcomes.note_wrong if wrong else self.outcomes.note_open
            note(number)
        start, path = fault.start, self.speaker.path
        row = Row(path, fault.data, start, number, pieces=((fault.at, start),))
        column = start.column + 1
        end = column + max(1, fault.width)
        place = Place(path, start.line, column, end, start.offset, number)
        excerpt = row.excerpt(fault.at, fault.at + max(1, fault.width))
        yield from self.speaker.say(
            fault.code, fault.message, fault.help, place, excerpt
        )
