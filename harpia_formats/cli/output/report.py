"""The report of a run on standard output, as its reporter writes it."""

import sys
from collections.abc import Callable, Iterable

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.output.progress import Progress
from harpia_formats.cli.output.streams import text_writer, write_stderr
from harpia_formats.cli.output.terminal import wants_color, wants_links, width_of
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.reporters import Options as ReportOptions
from harpia_formats.reporters import reporter_named
from harpia_formats.reporters.text import summary_lines

#: The reporters that are used by default.
ON_TERMINAL, IN_PIPE = "full", "concise"
#: Columns of a report that is not for a terminal.
PIPE_WIDTH = 100


def write_report(  # noqa: PLR0913 - one parameter for each option
    run: Iterable[Problem],
    finish: Callable[[], Report],
    progress: Progress,
    reporter_name: str | None,
    *,
    statistics: bool,
    quiet: bool,
) -> Report:
    """Write the findings of `run` while they are found; return the report.

    `finish` returns it after the last one. `reporter_name` is None for the default.
    """
    is_terminal = sys.stdout.isatty()
    default = ON_TERMINAL if is_terminal else IN_PIPE
    reporter = reporter_named(reporter_name or default)
    options = ReportOptions(
        color=wants_color(sys.stdout),
        links=wants_links(sys.stdout),
        width=width_of(sys.stdout) or PIPE_WIDTH,
        wraps=is_terminal,
        statistics=statistics,
        quiet=quiet,
    )
    write = text_writer(sys.stdout)
    if is_terminal:
        write = progress.hidden_for(write)
    reporter.write(run, finish, write, options)
    report = finish()
    sys.stdout.flush()
    if reporter.summary_apart and not quiet:
        progress.hide()
        write_stderr("".join(f"{line}\n" for line in summary_lines(report)))
    return report


def report_exit_code(
    report: Report, *, error_on_warning: bool, exit_zero: bool
) -> ExitCode:
    """Return the exit code of a report; `exit_zero` forgives findings only."""
    is_found = not report.ok or (error_on_warning and report.warnings)
    return exit_code_of(report, ok=exit_zero or not is_found)
