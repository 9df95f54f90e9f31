"""Inspect one file: its format, its rows, and what is wrong with them, in order."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.detection.file_name import misleading_suffix
from harpia_formats.detection.read_blocks import ReadBlocks, complete_frames
from harpia_formats.detection.recognize import (
    OTHER_SHAPE,
    Recognition,
    recognize,
    recognize_as,
    require_documented,
)
from harpia_formats.detection.sample import Sample
from harpia_formats.detection.sampled_file import (
    Framing,
    framing_of,
    reread_frames,
    sample_file,
)
from harpia_formats.framing.byte_buffer import ByteBuffer
from harpia_formats.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.framing.columns import DocumentFrames, DocumentHeader, RowArray
from harpia_formats.framing.container import OpenedContainer, open_container
from harpia_formats.framing.lines import line_rows
from harpia_formats.io.reread import RereadableSource
from harpia_formats.io.source import Source
from harpia_formats.mapping.columns import require_columns
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import PAUSE, Path, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.registry import all_formats
from harpia_formats.rules import Rule
from harpia_formats.rules.across import REPEATED_ID
from harpia_formats.schema.dialect import document_schema
from harpia_formats.schema.load import Schema
from harpia_formats.validation.diagnosis.container_messages import words_for
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Numbers, Outcomes
from harpia_formats.validation.file.parts import Part, Parts
from harpia_formats.validation.file.result import Judged
from harpia_formats.validation.file.row_validator import Disagreement, Judge, Verdict
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # what is wrong costs its import only where something is
    from harpia_formats.dedup.duplicate_ids import DuplicateIdFinder
    from harpia_formats.reading.record_stream import RecordStream
    from harpia_formats.validation.diagnosis.finding import Finding
    from harpia_formats.validation.diagnosis.row_context import Row
    from harpia_formats.validation.parallel.messages import Found
    from harpia_formats.validation.parallel.worker_tally import Keys, Notes
    from harpia_formats.workers.pool import WorkerPool

#: Rules that need no schema: on text and JSON, and on files as a whole.
_of_files = ("J", "S2", "S3")


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a file that is known, and what they are judged with."""

    variant: FormatVariant | None
    part: Part
    frames: DocumentFrames
    #: Takes note of what tells them apart, if that is asked for.
    keys: "Keys | None"


class InternalError(Exception):
    """We contradict ourselves: a bug of ours, with the place that shows it."""


class Inspection:
    """The inspection of one file, and what it came to know on the way."""

    def __init__(  # noqa: PLR0913, PLR0917 - what all files share, and what is of one
        self,
        options: Options,
        rules: Mapping[str, Rule],
        tally: "Tally | Notes",
        formats: tuple[Format, ...],
        schema: tuple[str, Schema] | None,
        stream: "RecordStream | None" = None,
        pool: "WorkerPool | None" = None,
    ) -> None:
        self._options = options
        #: Judges most rows of a large file, if anybody does.
        self._pool = pool
        #: Takes the records that are valid, if anybody wants them.
        self._stream = stream
        self._rules = rules
        self._tally = tally
        self._formats = formats
        self._given = schema
        self._variant: FormatVariant | None = None
        self._blanks: list[Cursor] = []
        self._blank_count = 0
        #: The last chunk that held records, as far as it was judged.
        self._last: Chunk | None = None
        #: The line in which the last record ends, if it was judged elsewhere.
        self._last_line = 0
        #: Whether records are read but not judged, for want of a known format.
        self._unjudged = False
        #: Whether it ended before the file did, as asked for.
        self.stopped = False
        #: Whether some rows could not be judged at all.
        self._has_gaps = False
        #: Whether columns were read no further than asked for.
        self._cut_short = False
        #: The items of each column, by its path.
        self._lengths: dict[Path, int] = {}

    @property
    def variant(self) -> FormatVariant | None:
        """What the file was taken for."""
        return self._variant

    @property
    def format(self) -> Format | None:
        """The format that the file was taken for."""
        return self._variant.format if self._variant else None

    @property
    def last_line(self) -> int:
        """The line in which the last record that was judged ends, 0 without one."""
        if self._last is None:
            return self._last_line
        rows = self._last.rows
        number = max(each for each, row in enumerate(rows) if not is_blank(row))
        return self._last.start_of(number).after(rows[number]).line

    def problems(
        self, blocks: ReadBlocks, count: FileCount, again: RereadableSource
    ) -> Iterator[Problem]:
        """Yield the problems that are kept; all of them are counted.

        `again` is a second look at the same file.
        """
        self._count, self._outcomes = count, Outcomes(count)
        self._blocks = blocks
        self._speaker = Speaker(self._rules, self._tally, count.path)
        opening = open_container(blocks)
        for flaw in opening.faults:
            # A source that could not be read says so, and not that it is empty.
            if flaw.kind != "empty" or blocks.error is None:
                yield from self._flaw(flaw)
        asked = () if self._given is not None else self._formats
        limit, known = self._options.max_row_bytes, tuple(all_formats().values())
        beginning = sample_file(opening, limit, asked, count.path, known)
        yield from self._name_note(beginning.sample)
        yield from self._recognise(beginning.sample)
        if self._stream is not None:
            self._stream.open(self._variant)
        self.cut = cut = framing_of(self._variant, beginning.sample.layout)
        # It outlives this inspection, and so must not hold it.
        self._again = partial(reread_frames, again.blocks, cut, self._variant, limit)
        self._unique: DuplicateIdFinder | Keys | None = self._uniqueness()
        if self._unique is None and self._options.companion is None:
            blocks.drop_copy()
        identity = self._unique.identity if self._unique else None
        self._parts = Parts(
            self._options, self._rules, self._variant, self._schema, identity
        )
        self._part = self._parts.of_records(cut)
        if cut is Framing.TABLE:
            yield from self._table(opening, blocks)
        else:
            frames = beginning.frames(cut, self._variant)
            yield from self._helped(complete_frames(frames, blocks))
        self.stopped |= self._cut_short
        yield from self._blank_note()
        if cut is not Framing.VALUES and self._holds_nothing(blocks):
            yield from self._flaw(FramingFault("empty", opening.content_start))
        if self._unique is not None:
            with closing(self._unique):
                yield from self._repeated_ids(self._unique)

    def of_rows(self, rows: "Rows", count: FileCount) -> Iterator[Problem]:
        """Yield what is wrong with some rows of a file that is known already."""
        self._count, self._outcomes = count, Outcomes(count)
        self._speaker = Speaker(self._rules, self._tally, count.path)
        self._variant, self._part, self._unique = rows.variant, rows.part, rows.keys
        yield from self._frames(rows.frames)

    @property
    def outcomes(self) -> Outcomes:
        """Which records are wrong, or could not be judged."""
        return self._outcomes

    @property
    def blanks(self) -> tuple[Cursor | None, int]:
        """Where the first blank line is, and how many there are."""
        return (self._blanks[0] if self._blanks else None), self._blank_count

    def _helped(self, frames: DocumentFrames) -> Iterator[Problem]:
        """Judge rows together with whoever helps."""
        known = self._variant is not None or self._given is not None
        columns = self.cut is Framing.MEMBERS and self._is_in_columns
        if self._pool is None or not known or columns:
            yield from self._frames(frames)
            return
        from harpia_formats.validation.parallel.file_job import Site  # noqa: PLC0415 - likewise
        from harpia_formats.validation.parallel.large_file import Ranged  # noqa: PLC0415 - if anybody does

        assert isinstance(self._tally, Tally)  # noqa: S101 - who helps has no help
        site = Site(
            self._options,
            self._rules,
            self._given,
            self._variant,
            self.cut,
            self._tally,
            self._speaker,
            self._outcomes,
            self._part,
            self._unique,
            self._blocks,
            judge=self._frames,
            add=self._count_records,
            note=self._note_found,
            miss=self._miss,
        )
        yield from Ranged(site, self._pool).problems(frames)

    @property
    def _is_in_columns(self) -> bool:
        """Whether the file holds columns, which follow each other."""
        variant = self._variant
        return variant is not None and (variant.dialect.container is Container.COLUMNS)

    def _note_found(self, found: "Found", lines: int) -> None:
        """Take note of what was found elsewhere, behind so many lines."""
        if found.first_blank is not None:
            start = found.first_blank
            place = Cursor(start.offset, start.line + lines, start.column)
            self._blanks = self._blanks or [place]
        self._blank_count += found.blanks
        if found.last_line:
            self._last, self._last_line = None, found.last_line + lines

    def _miss(self) -> None:
        """Take note that some rows are not judged."""
        self._has_gaps = True

    def _frames(self, frames: DocumentFrames) -> Iterator[Problem]:
        for frame in frames:
            self.stopped |= self._has_enough()
            if self.stopped:
                return
            if isinstance(frame, Chunk):
                yield from self._chunk(frame)
            elif isinstance(frame, RowArray):
                self._next_member(frame.path)
            elif isinstance(frame, DocumentHeader):
                yield from self._header(frame)
            else:
                yield from self._flaw(frame)
            if self._stream is not None and self._stream.pauses:
                yield PAUSE
            if self._options.progress is not None:
                self._options.progress(self._blocks.reader)

    def _has_enough(self) -> bool:
        """Tell whether no more of the file is wanted."""
        options = self._options
        if options.fail_fast and self._count.errors:
            return True
        if options.limit is None or self._is_of_columns:
            return False
        return self._part.records >= options.limit

    @property
    def _is_of_columns(self) -> bool:
        """Whether each record is spread over several columns."""
        return self._part.path in self._lengths

    def _holds_nothing(self, blocks: ReadBlocks) -> bool:
        """Tell whether a file was read to its end and has a header, but no records.

        Columns may be empty: that is what an evaluator without input returns.
        """
        if self._variant is None or self._count.records or self._count.errors:
            return False
        may_be_empty = self._variant.dialect.container is Container.COLUMNS
        return not (may_be_empty or self.stopped or blocks.error is not None)

    def _recognise(self, head: Sample) -> Iterator[Problem]:
        """Settle the format and the schema, and say so where it is worth a word."""
        count = self._count
        if self._given is not None:
            count.format, self._schema = self._given
            return
        self._schema = True
        found = self._recognition(head)
        self._variant = found.variant
        if found.variant is not None:
            strict = self._options.strict
            schema = document_schema(found.variant.dialect, strict=strict)
            self._schema = require_columns(schema, self._options.columns or {})
            count.format = found.variant.format.id
            count.dialect = found.variant.dialect.name
        asks_more = any(not each.startswith(_of_files) for each in self._rules)
        self._unjudged = found.variant is None and asks_more
        for each in found.notes:
            place = self._speaker.place(Cursor())
            yield from self._speaker.say(each.code, each.message, each.help, place)
        # Without the rule nothing would say why findings are not shown.
        codes = {each.code for each in found.notes}
        count.folded = OTHER_SHAPE in codes & self._rules.keys()

    def _recognition(self, head: Sample) -> Recognition:
        options = self._options
        if options.format is None:
            found = recognize(head, self._formats)
        else:
            everything = tuple(all_formats().values())
            found = recognize_as(
                self._formats, head, everything, options.format, strict=options.strict
            )
        return require_documented(found, head) if options.strict else found

    def of_lines(
        self, blocks: Iterable[bytes], start: Cursor, count: FileCount
    ) -> Iterator[Problem]:
        """Yield what is wrong with further lines of a file whose beginning is known."""
        self._part.records = count.records
        frames = line_rows(ByteBuffer(iter(blocks)), start, self._options.max_row_bytes)
        rows = Rows(self._variant, self._part, frames, None)
        yield from self.of_rows(rows, count)

    def judged(self, source: Source) -> Judged | None:
        """Return what is known of the file, if its records can be checked further."""
        failed_fast = self.stopped and self._options.fail_fast
        if self._variant is None or failed_fast or self._count.folded:
            return None
        return Judged(
            source,
            self._variant,
            self._speaker,
            self._outcomes,
            self._again,
            until=self._part.records,
            whole=not (self.stopped or self._has_gaps or self._blocks.error),
        )

    def _uniqueness(self) -> "DuplicateIdFinder | None":
        """Return what looks for repeated ids, if it is asked for."""
        if REPEATED_ID not in self._rules or self._count.folded:
            return None
        from harpia_formats.dedup.duplicate_ids import duplicate_id_finder  # noqa: PLC0415 - if asked for

        return duplicate_id_finder(self._variant, self._again)

    def _next_member(self, path: Path) -> None:
        """Begin with the items of another member."""
        assert self._variant is not None  # noqa: S101 - only known formats have members
        if self._stream is not None:
            self._stream.member(path)
        if self._variant.dialect.container is Container.WRAPPED:
            return
        self._lengths[path] = 0
        self._part = self._parts.of_member(path)

    def _chunk(self, chunk: Chunk) -> Iterator[Problem]:
        """Judge a chunk, as far as the options want it, and count the outcome."""
        if self._part.path in self._lengths:
            self._lengths[self._part.path] += len(chunk)
        chunk = self._within_limit(chunk)
        verdict = self._verdict(chunk, self._part.judge)
        active = [each for each in verdict.findings if each.code in self._rules]
        unread = {each.row for each in verdict.findings if each.is_fault}
        if self._options.fail_fast:
            chunk, active = self._until_first_error(chunk, active)
            blank = [each for each in verdict.blank if each < len(chunk)]
            records = len(chunk) - len(blank)
            accepted = verdict.accepted
            verdict = Verdict(records, blank, active, verdict.keys, accepted)
        if self._unique is not None:
            self._unique.add(verdict.keys)
        numbers = Numbers(self._part.records, verdict.blank)
        self._note_blanks(chunk, verdict)
        if self._unjudged:
            unread = set(range(len(chunk))) - set(verdict.blank)
        self._count_rows(
            numbers, active, {each for each in unread if each < len(chunk)}
        )
        self._count_records(verdict.records)
        if verdict.records:
            self._last = chunk
        part = self._part
        if self._stream is not None:
            values = verdict.accepted
            if values is None or not self._stream.accepted(
                chunk, numbers, values, part.judge
            ):
                self._take(self._stream, chunk, numbers, verdict, unread)
        row_of = partial(self._row, chunk, numbers)
        yield from self._speaker.findings(active, row_of, part.schema, part.path)

    def _take(
        self,
        stream: "RecordStream",
        chunk: Chunk,
        numbers: Numbers,
        verdict: Verdict,
        unread: set[int],
    ) -> None:
        """Hand on the rows that are valid, and the bytes of those that are not."""
        findings = [each for each in verdict.findings if each.code in self._rules]
        wrong = {each.row for each in findings if self._speaker.is_error(each.code)}
        wrong |= {each.row for each in findings if each.code == "V901"} | unread
        rows = chunk.rows
        blank = {row for row, text in enumerate(rows) if is_blank(text)}
        values, judge = verdict.values, self._part.judge
        stream.rows(chunk, numbers, wrong | blank, values, judge)
        stream.refused(chunk, {each for each in wrong if each < len(chunk)})

    def _verdict(self, chunk: Chunk, judge: Judge) -> Verdict:
        try:
            return judge.judge(chunk)
        except Disagreement as error:
            place = chunk.start_of(error.row)
            where = f"{self._count.path}:{place.line}:{place.column + 1}"
            raise InternalError(f"{where}: {error}") from error

    def _count_records(self, records: int) -> None:
        """Count the records of a chunk; those of a further column are not new."""
        part = self._part
        part.records += records
        self._count.records = max(self._count.records, part.records)

    def _count_rows(
        self, numbers: Numbers, findings: "list[Finding]", unread: set[int]
    ) -> None:
        """Count the records that are invalid or could not be judged.

        The latter are so too where the rule that says why was not asked for.
        """
        for each in findings:
            if each.code == "V901":
                unread.add(each.row)
            elif self._speaker.is_error(each.code):
                self._outcomes.note_wrong(numbers.of(each.row))
        for row in unread:
            self._outcomes.note_open(numbers.of(row))

    def _within_limit(self, chunk: Chunk) -> Chunk:
        """Return the rows of `chunk` up to the last record that is wanted."""
        limit, records = self._options.limit, self._part.records
        if limit is None or records + len(chunk) <= limit:
            return chunk
        if self._is_of_columns:
            self._cut_short = True
            return chunk.first(max(0, limit - records))
        left = limit - records
        for kept, each in enumerate(chunk.rows):
            if left == 0 and not is_blank(each):
                self.stopped = True
                return chunk.first(kept)
            left -= not is_blank(each)
        return chunk

    def _until_first_error(
        self, chunk: Chunk, findings: "list[Finding]"
    ) -> "tuple[Chunk, list[Finding]]":
        for number, each in enumerate(findings):
            if self._speaker.is_error(each.code):
                self.stopped = True
                return chunk.first(each.row + 1), findings[: number + 1]
        return chunk, findings

    def _row(self, chunk: Chunk, numbers: Numbers, finding: "Finding") -> "Row":
        from harpia_formats.validation.diagnosis.row_context import Row  # noqa: PLC0415 - as above

        return Row(
            path=self._count.path,
            text=chunk.rows[finding.row],
            start=chunk.start_of(finding.row),
            number=numbers.of(finding.row),
            value=finding.value,
            id_key=self._variant.format.id_key if self._variant else "",
            prefix=self._part.path,
        )

    def _header(self, header: DocumentHeader) -> Iterator[Problem]:
        """Judge what is left of a document without its records."""
        from harpia_formats.validation.diagnosis.row_context import Row  # noqa: PLC0415 - as above
        from harpia_formats.validation.file.document_header import header_findings  # noqa: PLC0415 - only for wrapped files

        variant = self._variant
        assert variant is not None  # noqa: S101 - only known formats have a header
        judge = self._parts.header_judge()
        if self._stream is not None:
            self._stream.around(header)
        findings = header_findings(header.text, judge, variant.dialect, self._lengths)
        active = [each for each in findings if each.code in self._rules]
        errors = [each for each in active if self._speaker.is_error(each.code)]
        if self._options.fail_fast and errors:
            active = active[: active.index(errors[0]) + 1]
            self.stopped = True

        def row_of(finding: "Finding") -> Row:
            start = header.pieces[0][1]
            path, pieces = self._count.path, header.pieces
            return Row(path, header.text, start, None, finding.value, pieces=pieces)

        yield from self._speaker.findings(active, row_of, self._schema)

    def _table(self, opening: OpenedContainer, blocks: ReadBlocks) -> Iterator[Problem]:
        """Judge the records of a table."""
        from harpia_formats.parsing.csv_records import table_rows  # noqa: PLC0415 - only for tables
        from harpia_formats.validation.file.csv_validator import TableInspection  # noqa: PLC0415

        dialect = self._variant.dialect if self._variant else None
        judge = self._part.judge

        def has_enough() -> bool:
            self._part.records = self._count.records
            if self._options.progress is not None:
                self._options.progress(blocks.reader)
            self.stopped |= self._has_enough()
            return self.stopped

        table = TableInspection(
            self._speaker,
            self._outcomes,
            judge,
            self._schema,
            dialect,
            has_enough,
            fail_fast=self._options.fail_fast,
            stream=self._stream,
        )
        limit = self._options.max_row_bytes
        try:
            yield from table.problems(table_rows(opening.buffer, opening.start, limit))
        except Disagreement as error:
            where = f"{self._count.path}: record {self._count.records:,}"
            raise InternalError(f"{where}: {error}") from error
        if table.columns and table.first_blank is not None:
            self._blanks, self._blank_count = [table.first_blank], table.blanks

    def _repeated_ids(self, unique: "DuplicateIdFinder | Keys") -> Iterator[Problem]:
        """Say which records have an id that was there before."""
        if self._options.fail_fast and self.stopped:
            return
        id_key = self._variant.format.id_key if self._variant else ""
        for each in unique.repeats(self._part.records):
            from harpia_formats.dedup.duplicate_ids import duplicate_id_remark  # noqa: PLC0415 - as above
            from harpia_formats.validation.diagnosis.finding import Finding  # noqa: PLC0415 - as above

            record = each.record
            self._outcomes.note_wrong(record.number)
            remark = duplicate_id_remark(each, id_key)
            finding = Finding(REPEATED_ID, record.row, remark, each.value)
            numbers = Numbers(record.number - record.row - 1, [])
            row_of = partial(self._row, record.chunk, numbers)
            yield from self._speaker.findings([finding], row_of, self._schema)
            if self._options.fail_fast:
                self.stopped = True
                return

    def _flaw(self, flaw: FramingFault) -> Iterator[Problem]:
        code, message, help_ = words_for(flaw, self._options.max_row_bytes)
        number = None
        if flaw.record:
            self._count_records(1)
            number = self._part.records
            wrong = code in self._rules
            note = self._outcomes.note_wrong if wrong else self._outcomes.note_open
            note(number)
        place = self._speaker.place(flaw.start, number)
        yield from self._speaker.say(code, message, help_, place)

    def _name_note(self, head: Sample) -> Iterator[Problem]:
        """Say that the file's name says something else than the file."""
        found = misleading_suffix(self._count.path, head)
        if found is not None:
            yield from self._speaker.say("J203", *found, self._speaker.place(Cursor()))

    def _note_blanks(self, chunk: Chunk, verdict: Verdict) -> None:
        if verdict.blank and not self._blank_count:
            self._blanks.append(chunk.start_of(verdict.blank[0]))
        self._blank_count += len(verdict.blank)

    def _blank_note(self) -> Iterator[Problem]:
        """Say once how many blank lines there were."""
        if not self._blank_count:
            return
        lines = f"{self._blank_count:,} blank lines are"
        if self._blank_count == 1:
            lines = "1 blank line is"
        place = self._speaker.place(self._blanks[0])
        yield from self._speaker.say("J202", f"{lines} passed over", "", place)
