"""The report of a run on standard output, as its reporter writes it."""

import sys
from collections.abc import Iterable, Iterator
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
from harpia_formats.reporters import reporter_named
from harpia_formats.reporters.text import summary_lines

#: The reporters that are used by default.
ON_TERMINAL, IN_PIPE = "full", "concise"
#: Columns of a report that is not for a terminal.
PIPE_WIDTH = 100


class Printing:
    """How the findings of one run are printed while they are found.

    A command calls `reporter.write(problems(run), finish, write, options)`, and then
    `end`.
    """

    def __init__(
        self,
        progress: Progress,
        reporter_name: str | None,
        options: ReportOptions,
        *,
        folds_equal: bool = True,
    ) -> None:
        """Choose the reporter: `reporter_name` is None for the default."""
        is_terminal = sys.stdout.isatty()
        default = ON_TERMINAL if is_terminal else IN_PIPE
        self._progress = progress
        self._kept: list[Problem] = []
        self._room = 0
        self.reporter = reporter_named(reporter_name or default)
        #: Writes text to standard output.
        self.write = text_writer(sys.stdout)
        if is_terminal:
            self.write = progress.hidden_for(self.write)
        if self.reporter.write_job_summary is not None:
            self._room = summary_room()
        self.options = replace(
            with_folders(options),
            color=wants_color(sys.stdout),
            links=wants_links(sys.stdout),
            width=width_of(sys.stdout) or PIPE_WIDTH,
            wraps=is_terminal,
            folds_equal=folds_equal,
            has_job_summary=self._room > 0,
        )

    def problems(self, run: Iterable[Problem]) -> Iterable[Problem]:
        """Return the problems of a run, which are kept for the page of a CI job."""
        return self._keeping(run) if self._room else run

    def _keeping(self, run: Iterable[Problem]) -> Iterator[Problem]:
        for problem in run:
            self._kept.append(problem)
            yield problem

    def end(self, report: Report) -> None:
        """Write what follows the findings: the page of the CI job, and the summary."""
        if self._room and self.reporter.write_job_summary is not None:
            options = replace(self.options, most_bytes=self._room)
            append_summary(self.reporter.write_job_summary, report, self._kept, options)
        sys.stdout.flush()
        if self.reporter.summary_apart and not self.options.quiet:
            self._progress.hide()
            write_stderr("".join(f"{line}\n" for line in summary_lines(report)))


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


def report_exit_code(
    report: Report, *, error_on_warning: bool, exit_zero: bool
) -> ExitCode:
    """Return the exit code of a report; `exit_zero` forgives findings only."""
    is_found = not report.ok or (error_on_warning and report.warnings)
    return exit_code_of(report, ok=exit_zero or not is_found)
