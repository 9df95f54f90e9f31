"""One line for each problem: for pipes, editors and grep."""

from collections import Counter
from collections.abc import Callable, Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.phrases import (
    BOLD,
    COLORS,
    PATH,
    SENTENCE,
    FoldedFindings,
    FolderFindings,
    PartlyShown,
    Shown,
    dotted_path,
    fitted,
    label,
    note_shown,
    of_baseline,
    painted,
    partly_shown_groups,
    position,
    rule,
    statistics_lines,
)
from harpia_formats.reporters.reporter import Options, Reporter

#: Without colours.
_PLAIN = Options()


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a line for each problem as it is found, then one for each cut group."""
    shown: Shown = Counter()
    once = FolderFindings(folds=options.folds_equal)
    for problem in problems:
        if once.hides(problem):
            continue
        note_shown(shown, problem)
        start = f"{_start_of(problem, options)}:"
        _write_line(line_of(problem, options), write_text, options, start)
    report = finish()
    groups, folded = once.fold(partly_shown_groups(report.groups, shown))
    for line in [*map(_folded_line, groups), *map(_equal_line, folded)]:
        _write_line(line, write_text, options)
    if options.statistics:
        for line in statistics_lines(report):
            _write_line(line, write_text, options)


def _write_line(
    line: str, write_text: Callable[[str], None], options: Options, start: str = ""
) -> None:
    """Write a line, on a terminal as several ones if it is too long."""
    write_text("\n".join(fitted([line], options, start=start)) + "\n")


def _start_of(problem: Problem, options: Options) -> str:
    """Return the place of a problem, with which its line starts."""
    place = problem.place
    start = position(place.full_path, place.line, place.column)
    return painted(start, BOLD, options)


def line_of(problem: Problem, options: Options = _PLAIN) -> str:
    """Return a problem as one line that starts with its place."""
    place = problem.place
    start = _start_of(problem, options)
    code = painted(label(problem), COLORS[problem.severity], options)
    name, message = safe(problem.name), safe(problem.message, SENTENCE)
    line = f"{start}: {code} {name} {message}"
    if problem.because and not problem.code.startswith("J"):
        reason = problem.because[0]
        line += f" because {safe(dotted_path(reason.pointer))} is {safe(reason.value)}"
    if place.record is None and problem.help:
        line += f" ({safe(problem.help, SENTENCE)})"
    return f"{line} [{safe(place.pointer)}]" if place.pointer else line


def _folded_line(partly: PartlyShown) -> str:
    """Return a line with the counts of all and of the shown problems of a group."""
    group = partly.group
    found = of_baseline(group) or f"{group.count:,} in all"
    counts = f"{found}, {partly.times:,} shown"
    line = f"{safe(group.path, PATH)}: {rule(group)}: {counts}"
    return f"{line}; {safe(partly.message, SENTENCE)}" if partly.message else line


def _equal_line(findings: FoldedFindings) -> str:
    """Return a line with the count of findings that equal those of another file."""
    start = f"{safe(findings.first, PATH)}: {safe(findings.code)} {safe(findings.name)}"
    return f"{start}: {findings}; {safe(findings.message, SENTENCE)}"


REPORTER = Reporter(
    name="concise",
    summary="one line for each problem",
    write=write,
    summary_apart=True,
)
