"""The report of a run on standard output, as its reporter writes it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.output.ci_job import append_summary, summary_room, with_folders
from harpia_formats.cli.output.progress import Progress
from harpia_formats.cli.output.streams import text_writer, write_stderr
from harpia_formats.cli.output.terminal import wants_color, wants_links, width_of
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.reporters import Options as ReportOptions
from harpia_formats.reporters import Reporter, reporter_named
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
    error_on_warning: bool = False,
    exit_zero: bool = False,
    folds_equal: bool = True,
) -> Report:
    """Write the findings of `run` while they are found; return the report.

    `finish` returns it after the last one. `reporter_name` is None for the default.
    """
    is_terminal = sys.stdout.isatty()
    default = ON_TERMINAL if is_terminal else IN_PIPE
    reporter = reporter_named(reporter_name or default)
    options = report_options(
        statistics=statistics,
        quiet=quiet,
        error_on_warning=error_on_warning,
        exit_zero=exit_zero,
    )
    options = replace(
        with_folders(options),
        color=wants_color(sys.stdout),
        links=wants_links(sys.stdout),
        width=width_of(sys.stdout) or PIPE_WIDTH,
        wraps=is_terminal,
        folds_equal=folds_equal,
    )
    write = text_writer(sys.stdout)
    if is_terminal:
        write = progress.hidden_for(write)
    if reporter.write_job_summary is None:
        reporter.write(run, finish, write, options)
    else:
        _write_with_summary(reporter, run, finish, write, options)
    report = finish()
    sys.stdout.flush()
    if reporter.summary_apart and not quiet:
        progress.hide()
        write_stderr("".join(f"{line}\n" for line in summary_lines(report)))
    return report


def report_options(
    *,
    statistics: bool = False,
    quiet: bool = False,
    error_on_warning: bool = False,
    exit_zero: bool = False,
) -> ReportOptions:
    """Return the options of reports that are not for a terminal."""
    return ReportOptions(
        width=PIPE_WIDTH,
        statistics=statistics,
        quiet=quiet,
        error_on_warning=error_on_warning,
        exit_code=partial(
            report_exit_code, error_on_warning=error_on_warning, exit_zero=exit_zero
        ),
    )


def _write_with_summary(
    reporter: Reporter,
    run: Iterable[Problem],
    finish: Callable[[], Report],
    write: Callable[[str], None],
    options: ReportOptions,
) -> None:
    """Write the findings of `run`, and the report to the summary page of the CI job."""
    room = summary_room()
    kept: list[Problem] = []

    def keeping() -> Iterator[Problem]:
        for problem in run:
            kept.append(problem)
            yield problem

    problems = keeping() if room else run
    reporter.write(problems, finish, write, replace(options, has_job_summary=room > 0))
    if room and reporter.write_job_summary is not None:
        options = replace(options, most_bytes=room)
        append_summary(reporter.write_job_summary, finish(), kept, options)


def report_exit_code(
    report: Report, *, error_on_warning: bool, exit_zero: bool
) -> ExitCode:
    """Return the exit code of a report; `exit_zero` forgives findings only."""
    is_found = not report.ok or (error_on_warning and report.warnings)
    return exit_code_of(report, ok=exit_zero or not is_found)
