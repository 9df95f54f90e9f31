"""Reports for pull requests: Markdown of bounded size, and annotations on lines.

The Markdown is for comments and for summaries of CI jobs, and the annotations are
commands of GitHub Actions.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from harpia_formats.formats.rules import rule_url
from harpia_formats.model.describe import with_noun
from harpia_formats.model.notebook import Row, displayed
from harpia_formats.model.problem import Place, Problem, Severity
from harpia_formats.model.report import Check, FileCount, Group, Report, State
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import escaped, safe
from harpia_formats.model.text_columns import MARKDOWN
from harpia_formats.reporters.equal_findings import (
    Alike,
    Finding,
    alike,
    collected,
    file_faults,
    first_sentences,
    is_local,
    shown_path,
)
from harpia_formats.reporters.full import problem_lines
from harpia_formats.reporters.markdown_text import code, fenced, head, plain, size
from harpia_formats.reporters.phrases import PATH, SENTENCE, position, rule, total_line
from harpia_formats.reporters.reporter import Options, Reporter

#: The columns of the tables.
_FILES = "file format records invalid undetermined errors warnings notes read".split()
_CHECKS = ["", "data set", "expected", "found"]
#: What is written below a table, once for all of its rows.
_METHODS = ("signature", "method", "test")
_FINDINGS = ["", "rule", "field", "findings", "files", "first"]
_NUMBERS = {*_FILES[2:-1], "findings", "files"}
#: The most rows of files as long as some have no findings.
_CLEAN = 20
#: Columns of the lines of examples.
_WIDTH = 100
#: Bytes kept for the sentence on what is not shown.
_SENTENCE_BYTES = 200


class _Page:
    """The lines of a page, of which no more are taken than have room."""

    def __init__(self, most_bytes: int) -> None:
        self.lines: list[str] = []
        self._most = most_bytes
        self._size = 0

    def left(self) -> int:
        """Return how many bytes there are left."""
        return self._most - self._size

    def add(self, *lines: str) -> None:
        self.lines += lines
        self._size += size(lines)

    def add_blocks(
        self, start: list[str], blocks: Iterable[list[str]], share: float
    ) -> int:
        """Add `start` and blocks of lines while they fit into a share of what is left.

        Return how many blocks were added.
        """
        room = self.left() * share - _SENTENCE_BYTES - size(start)
        fitting: list[list[str]] = []
        for block in blocks:
            room -= size(block)
            if room < 0:
                break
            fitting.append(block)
        if fitting:
            self.add(*start, *chain.from_iterable(fitting))
        return len(fitting)

    def add_left_out(self, number: int, noun: str, rest: str = "") -> None:
        """Add how many things are not shown, if there are any."""
        if number > 0:
            self.add("", f"{with_noun(number, f'more {noun}')}{rest} not shown.")


def write_markdown(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write the verdict, the files, the findings, and an example of each."""
    report, findings = collected(problems, finish)
    kinds = alike(findings)
    page = _Page(options.most_bytes)
    verdict = "ok" if report.ok else "not ok"
    page.add(f"### harpia-formats: {verdict}", "", total_line(report))
    _add_checks(page, report.checks)
    _add_faults(page, report, options)
    _add_files(page, report, options)
    _add_findings(page, kinds, options)
    _add_examples(page, kinds)
    write_text("\n".join(page.lines) + "\n")


def _add_checks(page: _Page, checks: Sequence[Check]) -> None:
    """Add the expectations of a preflight."""
    rows = ([_check_row(check)] for check in checks)
    shown = page.add_blocks(["", *head(_CHECKS)], rows, 0.5)
    page.add_left_out(len(checks) - shown, "expectation")


def _check_row(check: Check) -> str:
    """Return the row of an expectation."""
    state = check.state.value
    return MARKDOWN.line(
        [
            state if check.state is State.MET else f"**{state}**",
            code(check.data_set),
            code(check.expected, 500),
            code(check.found, 500),
        ]
    )


def _add_faults(page: _Page, report: Report, options: Options) -> None:
    """Add the files that were not read, and those without a verdict."""
    faults = file_faults(report)
    blocks = ([_fault_line(*fault, options)] for fault in faults)
    shown = page.add_blocks(["", "**Not read or without a verdict**", ""], blocks, 0.25)
    page.add_left_out(len(faults) - shown, "such file")


def _fault_line(path: str, reason: str, options: Options) -> str:
    """Return a line on a file that was not read, or has no verdict."""
    file = f"{code(shown_path(path, options))}: " if path else ""
    return f"- {file}{code(reason, 500)}"


def _add_files(page: _Page, report: Report, options: Options) -> None:
    """Add the table of files, those with errors first, and few without findings."""
    files = sorted(
        report.files, key=lambda file: (-file.errors, -file.warnings, -file.notes)
    )
    counted = sum(1 for file in files if file.errors or file.warnings or file.notes)
    wanted = files[: max(counted, _CLEAN)]
    rows = ([_file_row(file, options)] for file in wanted)
    shown = page.add_blocks(["", *head(_FILES, _NUMBERS)], rows, 0.25)
    page.add_left_out(len(files) - shown, "file")


def _file_row(file: FileCount, options: Options) -> str:
    """Return the row of a file."""
    read = "whole" if file.complete else "partly"
    if file.skipped:
        read = "passed over"
    elif file.reason is not None:
        read = "**no**" if not file.records else "**partly**"
    counts = (getattr(file, name) for name in _FILES[2:-1])
    return MARKDOWN.line(
        [
            code(shown_path(file.path, options)),
            " ".join(code(part, 80) for part in (file.format, file.dialect) if part),
            *(f"{count:,}" for count in counts),
            read,
        ]
    )


def _add_findings(page: _Page, kinds: list[Alike], options: Options) -> None:
    """Add the table of findings by rule and field."""
    rows = ([_finding_row(kind, options)] for kind in kinds)
    shown = page.add_blocks(["", *head(_FINDINGS, _NUMBERS)], rows, 0.6)
    page.add_left_out(len(kinds) - shown, "kind", " of findings")


def _finding_row(kind: Alike, options: Options) -> str:
    """Return the row of the findings of a rule at a field."""
    group = kind.shown.group
    pointer = f"{group.pointer} ({group.key})".lstrip() if group.key else group.pointer
    count = f"{kind.count:,}"
    if kind.baseline:
        count += f" + {kind.baseline:,} in the baseline"
    name, place = f"{group.code} {group.name}", _place(kind.shown, options)
    url = rule_url(group.code)
    rule = f"[{plain(name)}]({url})" if url else code(name)
    cells = [group.severity.value, rule, code(pointer), count, f"{kind.files:,}"]
    return MARKDOWN.line([*cells, code(place)])


def _place(finding: Finding, options: Options) -> str:
    """Return where the first of equal findings is."""
    place = finding.place
    path = shown_path(place.path, options)
    path = f"{path}!{place.member}" if place.member else path
    return f"{path}:{place.line}:{place.column}"


def _add_examples(page: _Page, kinds: list[Alike]) -> None:
    """Add the first finding of each kind with its line of the file."""
    shown_of = (kind.shown for kind in kinds)
    examples = [(one.group, one.first) for one in shown_of if one.first is not None]
    blocks = (_example(group, problem) for group, problem in examples)
    shown = page.add_blocks(["", "**Examples**"], blocks, 1)
    page.add_left_out(shown and len(examples) - shown, "example")


def _example(group: Group, problem: Problem) -> list[str]:
    """Return the lines of the first of equal findings, which are folded at first."""
    title = code(f"{group.code} {group.name} {group.pointer}")
    return [
        "",
        f"<details><summary>{title}</summary>",
        "",
        *fenced(problem_lines(problem, Options(width=_WIDTH))),
        "",
        "</details>",
    ]


def write_result(
    result: Result, write_text: Callable[[str], None], options: Options
) -> None:
    """Write the headline and the tables of a result."""
    page = _Page(options.most_bytes)
    page.add(f"### harpia-formats: {code(result.headline(), 500)}")
    if not _add_scores(page, result):
        for caption, rows in result.shown_tables():
            _add_table(page, caption, rows)
    write_text("\n".join(page.lines) + "\n")


def _add_scores(page: _Page, result: Result) -> bool:
    """Add the table of scores that is published; return False for another result."""
    from harpia_formats.reporters.tables import tables_of  # noqa: PLC0415 - a validation has none
    from harpia_formats.reporters.tables.markup_forms import (  # noqa: PLC0415 - a validation has none
        head_lines,
        note_lines,
        row_lines,
    )

    tables = tables_of(result)
    for table in tables:
        rows = ([line] for line in row_lines(table))
        shown = page.add_blocks(["", *head_lines(table)], rows, 1)
        page.add_left_out(len(table.rows) - shown, "row")
        page.add_blocks([""], ([line] for line in note_lines(table)), 1)
    return bool(tables)


def _add_table(page: _Page, caption: str, rows: Sequence[Row]) -> None:
    """Add a table, and below it how what it shows was computed."""
    if not rows:
        return
    names, shown = displayed(rows)
    titles = {name: code(name.replace("_", " ")) for name in names}
    cells = ([MARKDOWN.line(_cell(one.get(name)) for name in names)] for one in shown)
    right = [name for name in names if all(_is_number(one.get(name)) for one in shown)]
    start = ["", *head([*titles.values()], (titles[name] for name in right))]
    if caption:
        start = ["", f"**{plain(caption)}**", *start]
    page.add_left_out(len(rows) - page.add_blocks(start, cells, 1), "row")
    found = ((name, one.get(name)) for one in rows for name in _METHODS)
    methods = dict.fromkeys((name, value) for name, value in found if value)
    lines = ([f"- {name}: {code(str(value))}"] for name, value in methods)
    page.add_blocks([""], lines, 1)


def _is_number(value: object) -> bool:
    """Tell whether a value of a table is a number, or is not there."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or is_number


def _cell(value: object) -> str:
    """Return a value of a table; numbers need no code around them."""
    if value is None:
        return ""
    if not _is_number(value):
        return code(str(value))
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"


REPORTER = Reporter(
    name="markdown",
    summary="a short report for pull requests and job summaries",
    write=write_markdown,
    suffixes=(".md", ".markdown"),
    begins=rb"### harpia-formats: ",
    write_result=write_result,
)


#: The most annotations: GitHub shows ten errors and ten warnings of a step.
MOST = 10
_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


def write_annotations(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a command for each fault of a file, then for each rule and pointer."""
    report, findings = collected(problems, finish)
    faults = [_fault(*fault, options) for fault in file_faults(report)]
    commands = [*faults, *(_annotation(one, options) for one in alike(findings))]
    for command in commands[:MOST]:
        write_text(f"{command}\n")
    more = len(commands) - MOST
    if more > 0:
        where = "name a file with `--report markdown=FILE` to see them"
        if options.has_job_summary:
            where = "the summary of the job has them"
        kinds = with_noun(more, "more kind")
        write_text(f"{kinds} of findings without an annotation: {where}\n")


def _annotation(kind: Alike, options: Options) -> str:
    """Return the command for findings of one rule at one pointer."""
    finding = kind.shown
    group, place = finding.group, finding.place
    properties = {**_position(place, options), "title": rule(group)}
    lines = first_sentences(finding)
    if "line" not in properties:
        lines.append(f"at {position(place.full_path, place.line, place.column)}")
    if kind.count > 1:
        files = f" in {with_noun(kind.files, 'file')}" if kind.files > 1 else ""
        lines.append(f"the first of {kind.count:,} such findings{files}")
    return _command(_COMMANDS[group.severity], properties, lines)


def _position(place: Place, options: Options) -> dict[str, str]:
    """Return the properties of a place, as far as GitHub can show it.

    Standard input and remote files are none of the repository, and lines in a member
    are none of the archive.
    """
    if not is_local(place.path):
        return {}
    found = {"file": _file(place.path, options)}
    if place.line > 0 and not place.member:
        found["line"] = str(place.line)
        if place.column > 0:
            found["col"] = str(place.column)
        if place.end_column > place.column > 0:
            found["endColumn"] = str(place.end_column)
    return found


def _fault(path: str, reason: str, options: Options) -> str:
    """Return the command for a file that was not read, or records without a verdict."""
    if not path:
        return _command("error", {"title": "no verdict"}, [safe(reason, SENTENCE)])
    properties = {"file": _file(path, options)} if is_local(path) else {}
    properties["title"] = "not read to the end"
    shown = safe(shown_path(path, options), PATH)
    return _command("error", properties, [f"{shown}: {safe(reason, SENTENCE)}"])


def _file(path: str, options: Options) -> str:
    """Return the path of a file for a property, where `::` at its start is harmless."""
    return escaped(shown_path(path, options)[:PATH])


def _command(name: str, properties: dict[str, str], lines: Iterable[str]) -> str:
    """Return a workflow command; its message has several lines."""
    pairs = ",".join(f"{key}={_escaped_value(properties[key])}" for key in properties)
    # A command without a message is passed over.
    message = _escaped("\n".join(lines)) or _escaped(properties["title"])
    return f"::{name} {pairs}::{message}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


ANNOTATIONS_REPORTER = Reporter(
    name="github",
    summary="at most ten annotations in GitHub Actions, and the job summary",
    write=write_annotations,
    summary_apart=True,
    begins=rb"::(error|warning|notice) ",
    write_job_summary=write_markdown,
)
