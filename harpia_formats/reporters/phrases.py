"""Helpers of reporters for people: phrases, check lists, groups of equal problems."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import (
    JSON_SCHEMA,
    Check,
    FileCount,
    Group,
    Report,
    State,
)
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.reporter import Options

_LABELS = {
    State.MET: "ok",
    State.BROKEN: "FAIL",
    State.WARNED: "warn",
    State.UNDECIDED: "--",
}
#: The finding of an expectation that is not decided.
UNDECIDED = "not decided, as not all records were read"
#: The most code points of a line.
_LINE = 500


def check_lines(report: Report) -> list[str]:
    """Return a line for each check below the name of its data set, then the verdict.

    There are none without checks.
    """
    if not report.checks:
        return []
    lines = []
    for name, checks in groupby(report.checks, key=lambda check: check.data_set):
        lines.append(f"{safe(name)}:")
        lines += map(_line, checks)
    return [*lines, preflight_verdict(report)]


def _line(check: Check) -> str:
    line = f"  {_LABELS[check.state]:<4}  {safe(check.expected, _LINE)}"
    if check.state is State.UNDECIDED:
        return f"{line}: {undecided_because(check)}"
    line += f": {safe(check.found, _LINE)}"
    if check.state is State.MET:
        return line
    return f"{line} ({safe(check.path, _LINE)}:{check.line})"


def undecided_because(check: Check) -> str:
    """Return why an expectation is not decided."""
    if check.reason:
        return safe(f"not decided, as {check.reason}", _LINE)
    return UNDECIDED


def preflight_verdict(report: Report) -> str:
    """Return whether all expectations are met, in one line."""
    number = len(report.checks)
    count = (
        "the only expectation is" if number == 1 else f"all {number} expectations are"
    )
    warned = _count(report.checks, State.WARNED)
    if report.ok and warned:
        return (
            f"ok: {number - warned} of {number} expectations are met, and {warned} "
            f"{_are(warned)} not, with a warning"
        )
    if report.ok:
        return f"ok: {count} met"
    broken = _count(report.checks, State.BROKEN)
    undecided = _count(report.checks, State.UNDECIDED)
    text = f"not ok: {broken} of {number} expectations {_are(broken)} not met"
    if warned:
        text += f", {warned} {_are(warned)} not, with a warning"
    if undecided:
        text += f", {undecided} {_are(undecided)} not decided"
    return text


def _count(checks: Sequence[Check], state: State) -> int:
    return sum(check.state is state for check in checks)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


#: The most code points of a message; values in it may be much longer.
SENTENCE = 500
#: The most code points of a path; terminals cannot open a path that is cut.
PATH = 4096
# Plain ANSI codes: importing rich for them would cost start-up time, and rich passes
# escape sequences in data on to the terminal.
BOLD, DIM = "1", "2"
COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "34"}


def painted(text: str, style: str, options: Options) -> str:
    """Return `text` in an ANSI style such as `BOLD` if colours are enabled."""
    return f"\x1b[{style}m{text}\x1b[0m" if options.color else text


def position(path: str, line: int, column: int) -> str:
    """Return a place as `path:line:column`, which editors and terminals recognise."""
    return f"{safe(path, PATH)}:{line}:{column}"


def label(problem: Problem, *, links: bool = False) -> str:
    """Return the code of a problem, after its severity unless it is an error.

    With `links` the code of a built-in rule is a link to its documentation.
    """
    code = linked(problem.code) if links else safe(problem.code)
    if problem.severity is Severity.ERROR:
        return code
    return f"{problem.severity.value} {code}"


def linked(code: str) -> str:
    """Return the code of a rule as a link for terminals, if it has an address."""
    from harpia_formats.formats.rules import rule_url  # noqa: PLC0415 - for terminals only

    url = rule_url(code)
    shown = safe(code)
    return f"\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\" if url else shown


def fitted(
    lines: Iterable[str], options: Options, indent: str = "    ", start: str = ""
) -> list[str]:
    """Return lines that are broken between words if the options say so.

    All but the first part of a line begin with `indent`. A place, `start`, with which
    the lines begin is not broken.
    """
    if not options.wraps:
        return list(lines)
    from harpia_formats.model.text_columns import wrapped  # noqa: PLC0415 - for terminals only

    width = options.width
    return [part for line in lines for part in wrapped(line, width, indent, start)]


def rule(group: Group) -> str:
    """Return the code, name and pointer of a group of problems."""
    return safe(f"{group.code} {group.name} {_where(group)}".rstrip())


def dotted_path(pointer: str) -> str:
    """Return a JSON pointer in dotted form, such as `input.choices[2]`."""
    name = ""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        name += f"[{step}]" if step.isdecimal() else f".{step}"
    return name.removeprefix(".") or "the record"


def statistics_lines(report: Report) -> list[str]:
    """Return the exact count of each rule at each pointer, the most frequent first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for group in report.groups:
        counts[group.code, group.name, _where(group)] += group.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(f"{ordered[0][1]:,}") if ordered else 0
    return [
        f"  {count:>{width},}  {safe(f'{code} {name}')}  {safe(where)}".rstrip()
        for (code, name, where), count in ordered
    ]


def _where(group: Group) -> str:
    """Return the pointer of a group, with the missing key in parentheses."""
    return f"{group.pointer} ({group.key})".lstrip() if group.key else group.pointer


def summary_lines(report: Report) -> list[str]:
    """Return a line for each file that was read, and a total for several files."""
    read = [file for file in report.files if file.reason is None or file.records]
    lines = [
        _stating_line(file) if _states_checks(file, report) else _file_line(file)
        for file in read
    ]
    if len(report.files) == 1 and not report.excluded:
        return [*lines, *check_lines(report)]
    return [*lines, total_line(report), *check_lines(report)]


def _states_checks(file: FileCount, report: Report) -> bool:
    """Tell whether a file says what is expected of others, and is not one of them."""
    return not file.records and file.path in {check.path for check in report.checks}


def _stating_line(file: FileCount) -> str:
    """Return the line of a file that says what is expected of others."""
    errors = with_noun(file.errors, "error")
    return f"{safe(file.path, PATH)}: {errors} ({safe(file.format or '')})"


def total_line(report: Report) -> str:
    """Return the counts of all files in one line."""
    stating = sum(_states_checks(file, report) for file in report.files)
    files = len(report.files) - len(report.skipped) - stating
    total = f"{with_noun(files, 'file')}, {verdict(report)}"
    if report.failures:
        total += f"; {with_noun(len(report.failures), 'file')} not read to the end"
    if report.skipped:
        total += f"; {with_noun(len(report.skipped), 'file')} passed over"
    if report.excluded:
        total += f"; {with_noun(report.excluded, 'file')} left out"
    return total


def _file_line(file: FileCount) -> str:
    """Return the counts of a file, its format, and whether it was read completely."""
    found = verdict(Report(files=(file,), groups=(), problems=()))
    name = ", ".join(safe(part) for part in (file.format, file.dialect) if part)
    parts = [f"{found} ({name})" if name else found]
    if not file.complete:
        parts.append("not read to the end" if file.reason else "stopped as asked")
    return f"{safe(file.path, PATH)}: {'; '.join(parts)}"


def verdict(report: Report) -> str:
    """Return the counts of valid records and of problems of a report."""
    sums = report.summary()
    nouns = ("error", "warning", "note")
    problems = [with_noun(sums[f"{noun}s"], noun) for noun in nouns if sums[f"{noun}s"]]
    found = {file.format for file in report.files} - {None}
    noun = "schema" if found == {JSON_SCHEMA} else "record"
    parts = [_validity(sums, noun), _broken_files(report), ", ".join(problems)]
    held = sum(file.baseline or 0 for file in report.files)
    if held:
        parts.append(f"{held:,} in the baseline")
    return "; ".join(part for part in parts if part)


def _broken_files(report: Report) -> str:
    """Return which files are not valid although each of their records is."""
    broken = [
        file
        for file in report.files
        if file.errors and file.records and file.valid == file.records
    ]
    if not broken or len(report.files) == 1:
        return "the file is not valid" if broken else ""
    of_files = with_noun(len(broken), "file")
    return (
        f"{of_files} of valid records {'is' if len(broken) == 1 else 'are'} not valid"
    )


def _validity(sums: dict[str, int], noun: str) -> str:
    """Return the counts of all, valid, invalid and undetermined records."""
    records = with_noun(sums["records"], noun)
    if not sums["records"]:
        return "no records"
    if sums["valid"] == sums["records"] and not sums["errors"]:
        return f"{records}, valid" if sums["records"] == 1 else f"{records}, all valid"
    parts = [
        f"{sums[state]:,} {state}" for state in ("valid", "invalid", "undetermined")
    ]
    return f"{records}: {', '.join(parts if sums['undetermined'] else parts[:2])}"


#: The most different findings that are remembered of all folders.
_MOST_FINDINGS = 10_000
#: Severities of findings that are shown once a folder; each error has its own place.
_FOLDED = (Severity.NOTE, Severity.WARNING)
#: The number of shown problems by path, code, pointer and cause.
Shown = Counter[tuple[str, str, str, str]]


def note_shown(shown: Shown, problem: Problem) -> None:
    """Count in `shown` a problem that was shown."""
    place = problem.place
    shown[place.path, problem.code, place.pointer, problem.cause] += 1


class PartlyShown(NamedTuple):
    """A group of which not all problems were shown."""

    group: Group
    #: How many were shown.
    times: int
    #: The message of the first problem, if without it nothing would say what it is:
    #: none was shown, or another group of the file has the same code and pointer.
    message: str


class FoldedFindings(NamedTuple):
    """Findings in files of one folder that equal those of another of its files."""

    folder: str
    code: str
    message: str
    name: str
    severity: Severity
    number: int
    files: int
    #: The file whose findings were shown.
    first: str

    def __str__(self) -> str:
        """Return a phrase with the numbers of equal findings and of their files."""
        kind = self.severity.value
        found = f"{self.number:,} equal {kind}s"
        if self.number == 1:
            found = f"the same {kind}"
        files = "another file" if self.files == 1 else f"{self.files:,} other files"
        return f"{found} in {files} of the folder"


def of_baseline(group: Group) -> str:
    """Return how many problems of a group the baseline holds, "" if it holds none."""
    if not group.baseline:
        return ""
    found = group.count + group.baseline
    return f"{found:,} found, {group.baseline:,} in the baseline"


def partly_shown_groups(groups: Iterable[Group], shown: Shown) -> list[PartlyShown]:
    """Return the groups of which not all problems were shown.

    A group that a baseline holds a part of is one of them.
    """
    groups = tuple(groups)
    pointers: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    alike: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        pointers[group.path, group.code][group.pointer] = None
        alike[group.path, group.code, group.pointer, group.key] += 1
    examples: Shown = Counter()
    for (path, code, pointer, cause), times in shown.items():
        shape = group_pointer(pointer, pointers[path, code])
        examples[path, code, shape, cause] += times
    found = []
    for group in groups:
        times = examples[group.path, group.code, group.pointer, group.cause]
        is_plain = alike[group.path, group.code, group.pointer, group.key] == 1
        message = "" if times and is_plain else group.message
        found.append(PartlyShown(group, times, message))
    return [
        partly
        for partly in found
        if partly.times < partly.group.count or partly.group.baseline
    ]


class FolderFindings:
    """Notes and warnings: shown for the first file of a folder, else counted.

    They are equal if their rule and their message are.
    """

    def __init__(self, *, folds: bool) -> None:
        """Fold notes and warnings if `folds`; otherwise all of them are shown."""
        self._folds = folds
        #: The first file with a finding, by its folder, code and message.
        self._first: dict[tuple[str, str, str], str] = {}

    def hides(self, problem: Problem) -> bool:
        """Return whether another file of the folder showed it; remember it if not."""
        if not self._folds or problem.severity not in _FOLDED:
            return False
        path = problem.place.path
        key = (_folder(path), problem.code, problem.message)
        if key not in self._first and len(self._first) >= _MOST_FINDINGS:
            return False
        return self._first.setdefault(key, path) != path

    def fold(
        self, groups: Iterable[PartlyShown]
    ) -> tuple[list[PartlyShown], list[FoldedFindings]]:
        """Return the groups that are not hidden, and hidden findings by folder."""
        rest: list[PartlyShown] = []
        files: Counter[tuple[str, str, str]] = Counter()
        counts: Counter[tuple[str, str, str]] = Counter()
        kinds: dict[tuple[str, str, str], tuple[str, Severity]] = {}
        for partly in groups:
            group = partly.group
            key = (_folder(group.path), group.code, group.message)
            if partly.times or self._first.get(key, group.path) == group.path:
                rest.append(partly)
                continue
            files[key] += 1
            counts[key] += group.count
            kinds[key] = (group.name, group.severity)
        return rest, [
            FoldedFindings(*key, *kinds[key], count, files[key], self._first[key])
            for key, count in counts.items()
        ]


def _folder(path: str) -> str:
    """Return the folder part of a path or an address."""
    return path.rpartition("/")[0]


def group_pointer(pointer: str, shapes: dict[str, None]) -> str:
    """Return the group pointer that matches `pointer`; a key may look like an index."""
    if pointer in shapes:
        return pointer
    # Almost always, what looks like an index is one.
    parts = ("*" if part.isdecimal() else part for part in pointer.split("/"))
    shape = "/".join(parts)
    if shape in shapes:
        return shape
    return next((shape for shape in shapes if _matches(shape, pointer)), pointer)


def _matches(shape: str, pointer: str) -> bool:
    """Tell whether `pointer` is `shape` with an index in place of each `*`."""
    parts, others = shape.split("/"), pointer.split("/")
    return len(parts) == len(others) and all(
        part == other or (part == "*" and other.isdecimal())
        for part, other in zip(parts, others, strict=True)
    )
