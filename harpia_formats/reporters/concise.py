"""One line for each problem: for pipes, editors and grep."""

from collections import Counter
from collections.abc import Callable, Iterable

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.reporters.fold import (
    PartlyShown,
    Shown,
    note_shown,
    of_baseline,
    partly_shown_groups,
)
from harpia_formats.reporters.reporter import Options, Reporter
from harpia_formats.reporters.text import (
    PATH,
    SENTENCE,
    dotted_path,
    label,
    position,
    rule,
    statistics_lines,
)
from harpia_formats.text.sanitize import safe


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a line for each problem as it is found, then one for each cut group."""
    shown: Shown = Counter()
    for problem in problems:
        note_shown(shown, problem)
        write_text(line_of(problem) + "\n")
    report = finish()
    for partly in partly_shown_groups(report.groups, shown):
        write_text(_folded_line(partly) + "\n")
    if options.statistics:
        for line in statistics_lines(report):
            write_text(line + "\n")


def line_of(problem: Problem) -> str:
    """Return a problem as one line that starts with its place."""
    place = problem.place
    start = position(place.full_path, place.line, place.column)
    name, message = safe(problem.name), safe(problem.message, SENTENCE)
    line = f"{start}: {label(problem)} {name} {message}"
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


REPORTER = Reporter(
    name="concise",
    summary="one line for each problem",
    write=write,
    summary_apart=True,
)
