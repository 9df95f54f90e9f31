"""Merge the findings on the parts of a file: outcomes of its records, and places."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import structs

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.files.framing.columns import DocumentHeader, RowArray
from harpia_formats.model.problem import Path, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.plan.units import (
    Broken,
    CutRows,
    DocumentRest,
    LocalUnit,
    TableRecords,
    TableRows,
)
from harpia_formats.validation.unit.findings import (
    NO_FINDINGS,
    Findings,
    RecordSet,
    UnitResult,
    add_counts,
)

if TYPE_CHECKING:  # most files are not unpacked
    from harpia_formats.files.io.unpacked_text import TextPlaces
    from harpia_formats.files.parsing.csv_blocks import TableBlock, TableRow
    from harpia_formats.validation.plan.table_units import TableBatch


class Outcomes(msgspec.Struct):
    """The outcome of each record of a file; each record is counted once.

    A record may be met several times: in each of its columns, or again because of its
    id. One without a verdict is never counted as valid.
    """

    count: FileCount
    invalid: RecordSet = msgspec.field(default_factory=RecordSet)
    undetermined: RecordSet = msgspec.field(default_factory=RecordSet)

    def add(self, invalid: bytes, undetermined: bytes, before: int) -> None:
        """Count records, given as bits, that are numbered from `before` on."""
        if not (invalid or undetermined):
            return
        was_invalid = self._shifted(self.invalid, before, len(invalid))
        new_invalid = int.from_bytes(invalid, "little") << (before & 7) & ~was_invalid
        self.invalid.put(invalid, before)
        self.count.invalid += new_invalid.bit_count()
        size = max(len(invalid), len(undetermined))
        was_open = self._shifted(self.undetermined, before, size)
        self.count.undetermined -= (new_invalid & was_open).bit_count()
        found = int.from_bytes(undetermined, "little") << (before & 7) & ~was_open
        self.undetermined.put(undetermined, before)
        now_invalid = self._shifted(self.invalid, before, size)
        self.count.undetermined += (found & ~now_invalid).bit_count()

    def are_valid(self, before: int, count: int) -> bool:
        """Return whether the `count` records after the first `before` are valid."""
        size = (count + 7) // 8 + 1
        refused = self._shifted(self.invalid, before + 1, size) | self._shifted(
            self.undetermined, before + 1, size
        )
        return not refused >> (before + 1 & 7) & (1 << count) - 1

    def add_invalid(self, number: int) -> None:
        """Count a record as invalid."""
        if number in self.invalid:
            return
        self.invalid.add(number)
        self.count.invalid += 1
        self.count.undetermined -= number in self.undetermined

    @staticmethod
    def _shifted(records: RecordSet, before: int, size: int) -> int:
        """Return the bits around the numbers `before` to `before` + 8 * `size`."""
        place = before >> 3
        return int.from_bytes(records.bits[place : place + size + 1], "little")


def placed(findings: Findings, records: int, lines: int) -> Findings:
    """Return findings with so many records and lines of the file before them."""
    if not ((records or lines) and findings.described):
        return findings
    return msgspec.structs.replace(
        findings,
        described=tuple(
            tuple((group, _placed(problem, records, lines)) for group, problem in row)
            for row in findings.described
        ),
    )


def in_members(findings: Findings, path: str, places: "TextPlaces | None") -> Findings:
    """Return findings on the text of the file at `path` with places in its members.

    `places` is None for a file that was not unpacked. Findings in other files, such as
    a companion, stay.
    """
    if places is None or not findings.described:
        return findings
    return msgspec.structs.replace(
        findings,
        described=tuple(
            tuple(
                (
                    group,
                    places.of_problem(problem)
                    if problem.place.path == path
                    else problem,
                )
                for group, problem in row
            )
            for row in findings.described
        ),
    )


def _placed(problem: Problem, records: int, lines: int) -> Problem:
    """Return a problem with its place in the file."""
    place = problem.place
    number = None if place.record is None else place.record + records
    return replace(
        problem,
        place=replace(place, line=place.line + lines, record=number),
        because=tuple(
            replace(reason, line=reason.line + lines) for reason in problem.because
        ),
    )


#: What a file is cut into.
Frame: TypeAlias = (
    "Chunk | FramingFault | RowArray | DocumentHeader | TableBatch | TableBlock"
)


class FileMerge:
    """The merged results of the units of one file, which are added in order."""

    def __init__(self, plan: FilePlan, count: FileCount) -> None:
        """Take the plan of the file, and the counts that results are added to."""
        self.plan = plan
        self.count = count
        self.outcomes = Outcomes(count)
        #: Records of the part that is read: of the file, or of a column.
        self.records = 0
        #: The number of items of each column that was begun, by its path.
        self.lengths: dict[Path, int] = {}
        #: The records with a remark whose case the whole file decides, by `held_key`.
        self.held: dict[str, RecordSet] = {}
        #: What lints of the file count, and what they find if it has no companion.
        self.counts: dict[str, int] = {}
        self.pending = NO_FINDINGS
        #: Whether the options want no more of the file.
        self.stopped = False
        #: The bytes before an error in rows, behind which the options want no more.
        self.end: int | None = None
        #: Why the first rows that could not be validated at all were not.
        self.gap = ""
        self.blanks = 0
        self.first_blank: Cursor | None = None
        #: The first LF and the first CRLF, if they are looked for.
        self.line_ends: tuple[Cursor | None, Cursor | None] = (None, None)
        #: The names of a table's columns, and whether its rows can be validated.
        self.columns: tuple[str, ...] = ()
        self.is_usable = True
        #: The path of the column that is read, () outside of columns.
        self._path: Path = ()
        #: Whether a column was read no further than the limit.
        self._is_cut_short = False
        #: The last records that were validated here, and else the line of the last one.
        self._last: Chunk | TableBlock | TableRow | None = None
        self._last_line = 0

    def has_enough(self) -> bool:
        """Return whether the options want no more of the file."""
        options = self.plan.run.options
        if options.fail_fast and self.count.errors:
            return True
        if options.limit is None or self._path in self.lengths:
            return False
        return self.records >= options.limit

    def begin_column(self, path: Path) -> None:
        """Start with the items of the column at `path`."""
        self.lengths[path] = 0
        self._path, self.records = path, 0

    def unit_of(
        self, frame: "Chunk | FramingFault | DocumentHeader | TableBatch | TableBlock"
    ) -> LocalUnit:
        """Return what is validated of a frame: no more rows than the limit allows."""
        if isinstance(frame, FramingFault):
            if self._path in self.lengths:
                self.lengths[self._path] += frame.record
            return Broken(frame, self.records)
        if isinstance(frame, DocumentHeader):
            return DocumentRest(frame, dict(self.lengths), self.records)
        if isinstance(frame, Chunk):
            if self._path in self.lengths:
                self.lengths[self._path] += len(frame)
            return CutRows(self._within_limit(frame), self._path, self.records)
        if not isinstance(frame, tuple):
            limit = self.plan.run.options.limit
            if limit is None or self.records + frame.count <= limit:
                return TableRecords(self.columns, frame, self.records, self.is_usable)
            from harpia_formats.files.parsing.csv_records import rows_of_block  # noqa: PLC0415 - only for tables: start-up time

            frame = tuple(rows_of_block(frame))
        pieces = self._pieces_within_limit(frame)
        return TableRows(self.columns, pieces, self.records, self.is_usable)

    def add(
        self,
        result: UnitResult,
        last: "Chunk | TableBlock | TableRow | None" = None,
        lines: int = 0,
    ) -> None:
        """Add the result of the next unit; problems are counted by the tally.

        `last` are its rows, or the last one, if they were cut here; `lines` are those
        of the file before the unit, where it does not know them.
        """
        self.outcomes.add(result.invalid, result.undetermined, self.records)
        if result.unreported:
            self.count.add_unreported(result.unreported)
        for key, bits in result.held.items():
            self.held.setdefault(key, RecordSet()).put(bits, self.records)
        add_counts(self.counts, result.counts)
        self.records += result.records
        # Those of a further column are not new.
        self.count.records = max(self.count.records, self.records)
        if result.blanks and not self.blanks and result.first_blank is not None:
            start = result.first_blank
            self.first_blank = structs.replace(start, line=start.line + lines)
        if any(result.line_ends):
            lf, crlf = (
                end and structs.replace(end, line=end.line + lines)
                for end in result.line_ends
            )
            self.line_ends = self.line_ends[0] or lf, self.line_ends[1] or crlf
        self.blanks += result.blanks
        if result.lengths is not None:
            from harpia_formats.model.bins import joined_lengths  # noqa: PLC0415 - only where lengths are counted: start-up time

            self.count.lengths = joined_lengths(self.count.lengths, result.lengths)
        self.stopped |= result.stopped
        if last is not None and result.records:
            self._last = last
        elif result.last_line:
            self._last, self._last_line = None, result.last_line + lines

    def pass_over(self, records: int) -> None:
        """Count valid records that another process has read."""
        self.records += records
        self.count.records = self.records

    def end_rows(self) -> None:
        """Note that no more rows follow."""
        self.stopped |= self._is_cut_short
        if self.end is not None:
            # How much was read behind it depends on the container and the processes.
            self.count.bytes = self.end

    @property
    def last_line(self) -> int:
        """The line in which the last record that was validated ends, 0 without one."""
        last = self._last
        if last is None:
            return self._last_line
        if not isinstance(last, Chunk):
            return last.start.after(last.data.rstrip(b"\r\n")).line
        number = max(index for index, row in enumerate(last.rows) if not is_blank(row))
        return last.start_of(number).after(last.rows[number]).line

    def _within_limit(self, chunk: Chunk) -> Chunk:
        """Return the rows of `chunk` up to the last record that is wanted."""
        limit, records = self.plan.run.options.limit, self.records
        if limit is None or records + len(chunk) <= limit:
            return chunk
        if self._path in self.lengths:
            self._is_cut_short = True
            return chunk.first(max(0, limit - records))
        left = limit - records
        for kept, row in enumerate(chunk.rows):
            if left == 0 and not is_blank(row):
                self.stopped = True
                return chunk.first(kept)
            left -= not is_blank(row)
        return chunk

    def _pieces_within_limit(self, pieces: "TableBatch") -> "TableBatch":
        """Return the pieces of a table up to the last record that is wanted."""
        limit = self.plan.run.options.limit
        if limit is None:
            return pieces
        from harpia_formats.validation.plan.table_units import first_pieces  # noqa: PLC0415 - only for tables: start-up time

        is_below_header = bool(self.columns)
        wanted = first_pieces(pieces, limit - self.records, is_below_header)
        self.stopped |= len(wanted) < len(pieces)
        return wanted
