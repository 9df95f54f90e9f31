"""Phrases that the reporters for people share."""

from collections import Counter
from collections.abc import Iterable

from harpia_formats.model.problem import Problem, Severity
from harpia_formats.model.report import JSON_SCHEMA, FileCount, Group, Report
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.words import with_noun
from harpia_formats.reporters.checks import check_lines
from harpia_formats.reporters.reporter import Options

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
    from harpia_formats.formats.rules.documentation import rule_url  # noqa: PLC0415 - for terminals only

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
    from harpia_formats.model.text.columns import wrapped  # noqa: PLC0415 - for terminals only

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
