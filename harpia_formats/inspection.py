"""Inspect one file: its format, its rows, and what is wrong with them, in order."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.bytestream import SourceError
from harpia_formats.detection import choose
from harpia_formats.format import Format, no_advice
from harpia_formats.framing import Chunk, Cursor, Flaw, frames, is_blank
from harpia_formats.judge import Disagreement, Judge, Verdict
from harpia_formats.options import Options
from harpia_formats.problem import Place, Problem, Severity
from harpia_formats.report import FileCount
from harpia_formats.row import Row
from harpia_formats.rules import Rule
from harpia_formats.schema import built_in_schema
from harpia_formats.source import Reader
from harpia_formats.tally import Tally

if TYPE_CHECKING:  # what is wrong costs its import only where something is
    from harpia_formats.findings import Finding

#: Records that a file's format is told from, and their bytes at most.
HEAD_RECORDS = 1_000
HEAD_BYTES = 8 * 1024 * 1024

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


class Blocks:
    """The blocks of a file, counted; a fault of the source ends them quietly."""

    def __init__(self, reader: Reader, count: FileCount) -> None:
        self.reader = reader
        self._count = count
        self.error: SourceError | None = None
        self.ended = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self.reader:
                self._count.bytes += len(block)
                yield block
        except SourceError as error:
            self.error = error
        self.ended = True


class Inspection:
    """The inspection of one file, and what it came to know on the way."""

    def __init__(
        self,
        options: Options,
        rules: Mapping[str, Rule],
        tally: Tally,
        formats: tuple[Format, ...],
        schema: tuple[str, dict[str, Any] | bool] | None,
    ) -> None:
        self._options = options
        self._rules = rules
        self._tally = tally
        self._formats = formats
        self._given = schema
        self._format: Format | None = None
        self._schema: dict[str, Any] | bool = True
        self._blanks: list[Cursor] = []
        self._blank_count = 0
        #: Whether it ended before the file did, as asked for.
        self.stopped = False
        #: The line of the last row that was read.
        self.last_line = 0

    def problems(self, blocks: Blocks, count: FileCount) -> Iterator[Problem]:
        """Yield the problems that are kept; all of them are counted."""
        flow = frames(blocks, limit=self._options.max_row_bytes)
        head = list(_head(flow))
        yield from self._recognise(head, count)
        judge = self._judge()
        for frame in chain(head, flow):
            if isinstance(frame, Chunk):
                whole = frame if blocks.error is None else _without_torn_row(frame)
                yield from self._chunk(whole, judge, count)
            elif blocks.error is None:
                yield from self._flaw(frame, count)
            if self._options.progress is not None:
                self._options.progress(blocks.reader)
            if self.stopped:
                break
        yield from self._blank_note(count)

    def _recognise(
        self, head: list[Chunk | Flaw], count: FileCount
    ) -> Iterator[Problem]:
        """Settle the format and the schema, and say so where it is worth a word."""
        if self._given is not None:
            count.format, self._schema = self._given
            return
        rows = [value for each in head for value in _values(each)]
        choice = choose(rows, self._formats)
        if choice is None or len(self._formats) == 1:
            yield from self._asked_for(rows, count)
            return
        self._take(choice.format, count)
        if choice.format is not self._formats[0]:
            message = f"judged as {choice.format.id}: {choice}"
            help_ = "name a format with --format to hold the file to it"
            yield from self._about_file("S202", message, help_, count)

    def _asked_for(self, rows: list[Any], count: FileCount) -> Iterator[Problem]:
        """Take the format that was asked for, and say where the file has another."""
        if self._options.format is not None:
            self._take(self._formats[0], count)
            yield from self._other_shape(rows, count)
        elif rows:
            names = ", ".join(each.id for each in self._formats)
            message = f"no known format; the nearest are {names}"
            missing = _missing_keys(rows[0], self._formats[0])
            help_ = f"for {self._formats[0].id} the first record lacks {missing}; "
            help_ += "name a format with --format or a schema with --schema"
            yield from self._about_file("S301", message, help_, count)

    def _other_shape(self, rows: list[Any], count: FileCount) -> Iterator[Problem]:
        """Say once that the file as a whole is in another version of its format."""
        asked = self._formats[0]
        choice = choose(rows, _family_of(asked))
        if choice is None or choice.format.id == asked.id:
            return
        referee = self._judge().referee
        wrong = sum(1 for each in rows if not referee.is_valid(each))
        if 2 * min(wrong, choice.alike) <= len(rows):
            return
        message = f"the file is {choice.format.id}, not {asked.id}: {choice}"
        help_ = f"validate it with --format {choice.format.id}; "
        help_ += f"what else is wrong with it as {asked.id} is counted, not listed"
        yield from self._about_file("S201", message, help_, count)
        # Without the rule nothing would say why findings are not shown.
        count.folded = self._tally.folded = "S201" in self._rules

    def _take(self, format_: Format, count: FileCount) -> None:
        self._format = format_
        self._schema = built_in_schema(format_.id)
        count.format = format_.id

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
        if self._options.fail_fast:
            chunk, active = self._until_first_error(chunk, active)
            blank = [each for each in verdict.blank if each < len(chunk)]
            verdict = Verdict(len(chunk) - len(blank), blank, active)
        numbers = _Numbers(count.records, verdict.blank)
        self._note_blanks(chunk, verdict)
        _count_records(verdict.records, active, self._rules, count)
        if chunk.lines:
            self.last_line = chunk.start.line + len(chunk) - 1
        for _, findings in groupby(active, key=lambda each: each.row):
            yield from self._findings(findings, chunk, numbers, count)

    def _within_limit(self, chunk: Chunk, count: FileCount) -> Chunk:
        limit = self._options.limit
        if limit is None or count.records + len(chunk) < limit:
            return chunk
        kept, left = 0, limit - count.records
        for each in chunk.rows:
            if left == 0:
                break
            left -= not is_blank(each)
            kept += 1
        self.stopped = left == 0
        return chunk.first(kept)

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
        for problem in kept:
            yield self._tally.keep(problem)

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
        limit = self._options.max_row_bytes
        message = message.format(size=flaw.size, limit=limit)
        place = _place(count.path, flaw.start, number)
        yield from self._say(code, message, help_, place)
        self.stopped |= self._options.fail_fast and count.errors > 0

    def _about_file(
        self, code: str, message: str, help_: str, count: FileCount
    ) -> Iterator[Problem]:
        yield from self._say(code, message, help_, _place(count.path, Cursor(), None))

    def _say(
        self, code: str, message: str, help_: str, place: Place
    ) -> Iterator[Problem]:
        rule = self._rules.get(code)
        if rule is None or not self._tally.wants(rule, ()):
            return
        problem = Problem(code, rule.name, rule.severity, place, message, help=help_)
        if self._tally.add(problem, ()):
            yield self._tally.keep(problem)

    def _note_blanks(self, chunk: Chunk, verdict: Verdict) -> None:
        if verdict.blank and not self._blank_count:
            self._blanks.append(chunk.start_of(verdict.blank[0]))
        self._blank_count += len(verdict.blank)

    def _blank_note(self, count: FileCount) -> Iterator[Problem]:
        """Say once how many blank lines there were."""
        if not self._blank_count:
            return
        lines = (
            "1 blank line is"
            if self._blank_count == 1
            else (f"{self._blank_count:,} blank lines are")
        )
        place = _place(count.path, self._blanks[0], None)
        yield from self._say("J202", f"{lines} passed over", "", place)


class _Numbers:
    """The numbers of a chunk's records, blank rows left out."""

    def __init__(self, before: int, blank: list[int]) -> None:
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        blank = sum(1 for each in self._blank if each < row)
        return self._before + row + 1 - blank


def _head(flow: Iterator[Chunk | Flaw]) -> Iterator[Chunk | Flaw]:
    """Yield frames until they hold enough records to tell a format from."""
    records = size = 0
    while records < HEAD_RECORDS and size < HEAD_BYTES:
        frame = next(flow, None)
        if frame is None:
            return
        if isinstance(frame, Chunk):
            records += len(frame)
            size += len(frame.data)
        yield frame


def _values(frame: Chunk | Flaw) -> Iterator[Any]:
    """Yield the rows of `frame` that parse."""
    for each in frame.rows if isinstance(frame, Chunk) else ():
        try:
            yield msgspec.json.decode(each)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue


def _family_of(format_: Format) -> Iterable[Format]:
    from harpia_formats.registry import all_formats  # noqa: PLC0415 - the registry imports formats that import us

    family = format_.id.split("@")[0]
    return [each for each in all_formats().values() if each.id.split("@")[0] == family]


def _missing_keys(row: Any, format_: Format) -> str:
    required = built_in_schema(format_.id).get("required", [])
    have = row if isinstance(row, dict) else {}
    return ", ".join(each for each in required if each not in have) or "nothing"


def _without_torn_row(chunk: Chunk) -> Chunk:
    """Drop the last row where the source broke off in the middle of it."""
    if chunk.data.endswith(b"\n") or len(list(_values(chunk))) == len(chunk):
        return chunk
    return chunk.first(len(chunk) - 1)


def _count_records(
    records: int, findings: "list[Finding]", rules: Mapping[str, Rule], count: FileCount
) -> None:
    wrong, open_ = set(), set()
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
