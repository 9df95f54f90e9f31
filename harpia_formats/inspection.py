"""Inspect one file: its format, its rows, and what is wrong with them, in order."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import TYPE_CHECKING

from harpia_formats.blocks import Blocks, whole_frames
from harpia_formats.format import Format, no_advice
from harpia_formats.framing import Chunk, Cursor, Flaw, frames, is_blank
from harpia_formats.judge import Disagreement, Judge, Verdict
from harpia_formats.options import Options
from harpia_formats.problem import Place, Problem, Severity
from harpia_formats.recognition import (
    OTHER_SHAPE,
    head_of,
    recognise,
    recognise_as,
    values_in,
)
from harpia_formats.registry import family_of
from harpia_formats.report import FileCount
from harpia_formats.row import Row
from harpia_formats.rules import Rule
from harpia_formats.schema import Schema, built_in_schema
from harpia_formats.tally import Tally

if TYPE_CHECKING:  # what is wrong costs its import only where something is
    from harpia_formats.findings import Finding

#: Rules that need no schema: on text and JSON, and on files as a whole.
_of_files = ("J", "S2", "S3")
#: Rule, message and help for what can be wrong with a container.
_flaws = {
    "bom": (
        "J201",
        "the file begins with a byte order mark",
        "save it as UTF-8 without one",
    ),
    "oversize": (
        "J110",
        "a row of {size:,} bytes is longer than the limit of {limit:,}",
        "put line ends where they belong, or raise the limit with --max-row-bytes",
    ),
    "empty": (
        "J111",
        "the file holds no records",
        "run again what should have written it",
    ),
    "unclosed": (
        "J112",
        "the file ends before the array is closed",
        "add the missing ]",
    ),
    "trailing": ("J112", "there is more behind the end of the array", "remove it"),
    "missing-item": ("J112", "no record stands beside this comma", "remove the comma"),
}


class InternalError(Exception):
    """We contradict ourselves: a bug of ours, with the place that shows it."""


class Inspection:
    """The inspection of one file, and what it came to know on the way."""

    def __init__(
        self,
        options: Options,
        rules: Mapping[str, Rule],
        tally: Tally,
        formats: tuple[Format, ...],
        schema: tuple[str, Schema] | None,
    ) -> None:
        self._options = options
        self._rules = rules
        self._tally = tally
        self._formats = formats
        self._given = schema
        self._format: Format | None = None
        self._schema: Schema = True
        self._blanks: list[Cursor] = []
        self._blank_count = 0
        #: The last chunk that held records, as far as it was judged.
        self._last: Chunk | None = None
        #: Whether records are read but not judged, for want of a known format.
        self._unjudged = False
        #: Whether it ended before the file did, as asked for.
        self.stopped = False

    @property
    def last_line(self) -> int:
        """The line in which the last record that was judged ends, 0 without one."""
        if self._last is None:
            return 0
        rows = self._last.rows
        number = max(each for each, row in enumerate(rows) if not is_blank(row))
        return self._last.start_of(number).after(rows[number]).line

    def problems(self, blocks: Blocks, count: FileCount) -> Iterator[Problem]:
        """Yield the problems that are kept; all of them are counted."""
        flow = frames(blocks, limit=self._options.max_row_bytes)
        flow = whole_frames(flow, blocks)
        head = list(head_of(flow))
        yield from self._recognise(head, count)
        judge = self._judge()
        for frame in chain(head, flow):
            self.stopped |= self._has_enough(count)
            if self.stopped:
                break
            if isinstance(frame, Chunk):
                yield from self._chunk(frame, judge, count)
            else:
                yield from self._flaw(frame, count)
            if self._options.progress is not None:
                self._options.progress(blocks.reader)
        yield from self._blank_note(count)

    def _has_enough(self, count: FileCount) -> bool:
        """Tell whether no more of the file is wanted."""
        options = self._options
        if options.fail_fast and count.errors:
            return True
        return options.limit is not None and count.records >= options.limit

    def _recognise(
        self, head: list[Chunk | Flaw], count: FileCount
    ) -> Iterator[Problem]:
        """Settle the format and the schema, and say so where it is worth a word."""
        if self._given is not None:
            count.format, self._schema = self._given
            return
        rows = [value for each in head for value in values_in(each)]
        if self._options.format is None:
            found = recognise(rows, self._formats)
        else:
            found = recognise_as(self._formats, rows, family_of(self._formats[0]))
        if found.format is not None:
            self._format = found.format
            self._schema = built_in_schema(found.format.id)
            count.format = found.format.id
        asks_more = any(not each.startswith(_of_files) for each in self._rules)
        self._unjudged = found.format is None and asks_more
        if found.code:
            place = _place(count.path, Cursor(), None)
            yield from self._say(found.code, found.message, found.help, place)
        # Without the rule nothing would say why findings are not shown.
        count.folded = found.code == OTHER_SHAPE and OTHER_SHAPE in self._rules
        self._tally.folded = count.folded

    def _judge(self) -> Judge:
        options = self._options
        second_opinion = None
        if options.cross_check:
            from harpia_formats.reference import second_opinion_of  # noqa: PLC0415 - a tenth of a second, when asked for

            second_opinion = second_opinion_of(
                self._schema, formats=options.assert_formats
            )
        return Judge(
            self._schema,
            self._format.advise if self._format else no_advice,
            formats=options.assert_formats,
            repeated_keys="J105" in self._rules,
            second_opinion=second_opinion,
        )

    def _chunk(self, chunk: Chunk, judge: Judge, count: FileCount) -> Iterator[Problem]:
        """Judge a chunk, as far as the options want it, and count the outcome."""
        chunk = self._within_limit(chunk, count)
        try:
            verdict = judge.judge(chunk)
        except Disagreement as error:
            place = chunk.start_of(error.row)
            where = f"{count.path}:{place.line}:{place.column + 1}"
            raise InternalError(f"{where}: {error}") from error
        active = [each for each in verdict.findings if each.code in self._rules]
        unread = {each.row for each in verdict.findings if each.is_fault}
        if self._options.fail_fast:
            chunk, active = self._until_first_error(chunk, active)
            blank = [each for each in verdict.blank if each < len(chunk)]
            verdict = Verdict(len(chunk) - len(blank), blank, active)
        numbers = _Numbers(count.records, verdict.blank)
        self._note_blanks(chunk, verdict)
        if self._unjudged:
            unread = set(range(len(chunk))) - set(verdict.blank)
        unread = {each for each in unread if each < len(chunk)}
        _count_records(verdict.records, active, unread, self._rules, count)
        if verdict.records:
            self._last = chunk
        for _, findings in groupby(active, key=lambda each: each.row):
            yield from self._findings(findings, chunk, numbers, count)

    def _within_limit(self, chunk: Chunk, count: FileCount) -> Chunk:
        """Return the rows of `chunk` up to the last record that is wanted."""
        limit = self._options.limit
        if limit is None or count.records + len(chunk) <= limit:
            return chunk
        left = limit - count.records
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
            if self._rules[each.code].severity is Severity.ERROR:
                self.stopped = True
                return chunk.first(each.row + 1), findings[: number + 1]
        return chunk, findings

    def _findings(
        self,
        findings: "Iterable[Finding]",
        chunk: Chunk,
        numbers: "_Numbers",
        count: FileCount,
    ) -> Iterator[Problem]:
        """Put what is kept of one row's findings into words, in reading order."""
        kept: list[Problem] = []
        row: Row | None = None
        for each in findings:
            rule = self._rules[each.code]
            if not self._tally.wants(rule, each.path):
                continue
            row = row or self._row(each, chunk, numbers, count)
            from harpia_formats.explain import problem_of  # noqa: PLC0415 - as above

            problem = problem_of(each, rule, row, self._schema)
            if self._tally.add(problem, each.path):
                kept.append(problem)
        kept.sort(key=lambda each: each.place.byte_offset)
        yield from kept

    def _row(
        self, finding: "Finding", chunk: Chunk, numbers: "_Numbers", count: FileCount
    ) -> Row:
        return Row(
            path=count.path,
            text=chunk.rows[finding.row],
            start=chunk.start_of(finding.row),
            number=numbers.of(finding.row),
            value=finding.value,
            id_key=self._format.id_key if self._format else "",
        )

    def _flaw(self, flaw: Flaw, count: FileCount) -> Iterator[Problem]:
        code, message, help_ = _flaws[flaw.kind]
        number = None
        if flaw.record:
            count.records += 1
            number = count.records
            if code in self._rules:
                count.invalid += 1
            else:
                count.undetermined += 1
        limit = self._options.max_row_bytes
        message = message.format(size=flaw.size, limit=limit)
        place = _place(count.path, flaw.start, number)
        yield from self._say(code, message, help_, place)

    def _say(
        self, code: str, message: str, help_: str, place: Place
    ) -> Iterator[Problem]:
        rule = self._rules.get(code)
        if rule is None or not self._tally.wants(rule, ()):
            return
        problem = Problem(code, rule.name, rule.severity, place, message, help=help_)
        if self._tally.add(problem, ()):
            yield problem

    def _note_blanks(self, chunk: Chunk, verdict: Verdict) -> None:
        if verdict.blank and not self._blank_count:
            self._blanks.append(chunk.start_of(verdict.blank[0]))
        self._blank_count += len(verdict.blank)

    def _blank_note(self, count: FileCount) -> Iterator[Problem]:
        """Say once how many blank lines there were."""
        if not self._blank_count:
            return
        lines = f"{self._blank_count:,} blank lines are"
        if self._blank_count == 1:
            lines = "1 blank line is"
        place = _place(count.path, self._blanks[0], None)
        yield from self._say("J202", f"{lines} passed over", "", place)


class _Numbers:
    """The numbers of a chunk's records, blank rows left out."""

    def __init__(self, before: int, blank: list[int]) -> None:
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self._before + row + 1 - bisect_left(self._blank, row)


def _count_records(
    records: int,
    findings: "list[Finding]",
    unread: set[int],
    rules: Mapping[str, Rule],
    count: FileCount,
) -> None:
    """Count records; one that could not be judged is never a valid one.

    That is so too where the rule that says why was not asked for.
    """
    wrong, open_ = set(), set(unread)
    for each in findings:
        if each.code == "V901":
            open_.add(each.row)
        elif rules[each.code].severity is Severity.ERROR:
            wrong.add(each.row)
    count.records += records
    count.invalid += len(wrong)
    count.undetermined += len(open_ - wrong)


def _place(path: str, start: Cursor, record: int | None) -> Place:
    column = start.column + 1
    return Place(path, start.line, column, column + 1, start.offset, record)
