"""The report of a run, as its reporter writes it: on standard output and in files."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.cli.progress_and_problems import Progress
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    exit_code_of,
    outlive_reader,
    text_writer,
    wants_color,
    wants_links,
    width_of,
    write_stderr,
)
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.urls import all_masked, masked
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters import Options as ReportOptions
from harpia_formats.reporters import reporter_named
from harpia_formats.reporters.phrases import summary_lines
from harpia_formats.reporters.reporter import Options, WriteReport

if TYPE_CHECKING:  # most runs write no report to a file: start-up time
    from harpia_formats.reporters.report_file import ReportFile


#: The variables with the folder of the repository: of GitHub, GitLab and Azure.
ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")
#: The variable with the file of the summary page of GitHub, and the bytes it may have.
SUMMARY, SUMMARY_BYTES = "GITHUB_STEP_SUMMARY", 1024 * 1024
#: The most and the least bytes of our part of a summary page.
MOST, LEAST = 400_000, 2_000


def with_folders(options: Options) -> Options:
    """Return `options` with the working folder and the root of the job's repository."""
    try:
        folder = Path.cwd()
    except OSError:  # it was removed
        return options
    named = (os.environ.get(name) for name in ROOTS)
    roots = (os.path.realpath(root) for root in named if root)
    below = (root for root in roots if folder.is_relative_to(root))
    return replace(options, folder=str(folder), root=next(below, str(folder)))


def summary_room() -> int:
    """Return how many bytes the summary page of the job may get, 0 if it gets none."""
    path = os.environ.get(SUMMARY)
    if not path:
        return 0
    try:
        written = os.stat(path).st_size  # noqa: PTH116 - raises nothing else for a name that is no path
    except (OSError, ValueError):
        written = 0
    room = min(MOST, SUMMARY_BYTES - written)
    if room >= LEAST:
        return room
    write_stderr(f"note: the file of {SUMMARY} is full, and gets no report\n")
    return 0


def append_summary(
    write: WriteReport, report: Report, problems: Iterable[Problem], options: Options
) -> None:
    """Append a report to the summary page of the job.

    A note on standard error says so if that is not possible.
    """
    parts: list[str] = []
    write(problems, lambda: report, parts.append, options)
    data = "".join(parts).encode("utf-8", "backslashreplace")
    path = os.environ[SUMMARY]
    try:
        with open(path, "ab") as file:  # noqa: PTH123 - raises nothing else for a name that is no path
            file.write(data)
    except (OSError, ValueError) as error:
        reason = error_reason(error) if isinstance(error, OSError) else str(error)
        shown = safe(path, MESSAGE_LIMIT)
        write_stderr(f"note: no report in the summary of the job: {shown}: {reason}\n")


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


class ReportFiles:
    """The files for reports of one run, which appear together once it is done.

    An earlier report is replaced, but no other file, and none that the user named as an
    input or output of the run.
    """

    def __init__(
        self,
        given: Iterable[str] | None,
        kind: type[Result],
        others: Sequence[Any] = (),
        *,
        prints_data: bool = False,
    ) -> None:
        """Take the values of `--report`, the type of the result, and other places.

        `others` are the paths and URLs that the run reads or writes, or None. Unless
        the run `prints_data` to standard output, which somebody must read to the end,
        reports are written even if nobody reads it. Raises
        `UnknownReporter`, `ReportError`, `PluginError` or `SinkError` for a report that
        cannot be written.
        """
        self._files: list[ReportFile] = []
        self._problems: list[Problem] = []
        #: The absolute paths of the files that are local.
        self.paths: frozenset[Path] = frozenset()
        if given:
            from harpia_formats.reporters.report_file import local_paths, report_files  # noqa: PLC0415 - most runs write no report to a file: start-up time

            self._files = report_files(given, kind, others)
            if not prints_data:
                outlive_reader()
            self.paths = local_paths(self._files)

    @property
    def places(self) -> list[str]:
        """The paths and URLs of the files."""
        return [file.place for file in self._files]

    def show_lengths(self, output_format: str | None) -> bool:
        """Tell whether a report shows the lengths of rows, or what is printed does."""
        reporters = [file.reporter for file in self._files]
        if output_format is not None:
            reporters.append(reporter_named(output_format))
        return any(reporter.shows_lengths for reporter in reporters)

    def keeping(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Return problems as they are found, and keep those that reports need."""
        return self._keeping(problems) if self._files else iter(problems)

    def _keeping(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        made = [file.reporter.needs and file.reporter.needs() for file in self._files]
        for problem in problems:
            if any([needs is None or needs(problem) for needs in made]):  # noqa: C419 - each counts what it has
                self._problems.append(problem)
            yield problem

    def write(self, result: Result, options: Options) -> None:
        """Write the reports of a result, with the problems that were kept.

        Raises `SinkError`.
        """
        if not self._files:
            return
        from harpia_formats.reporters.report_file import write_files  # noqa: PLC0415 - most runs write no report to a file: start-up time

        command = shown_command(["harpia-formats", *sys.argv[1:]])
        options = replace(with_folders(options), command=command)
        write_files(self._files, with_problems(result, self._problems), options)


def with_problems(result: Any, problems: Sequence[Problem]) -> Any:
    """Return a result whose reports of validation have those `problems` in their files.

    Runs that only read data hand them over one by one, and count them in the report.
    """
    if isinstance(result, Report):
        return replace(result, problems=tuple(problems))
    changed: dict[str, Any] = {}
    for name in (one.name for one in fields(result)):
        value = getattr(result, name)
        if isinstance(value, Result):
            changed[name] = with_problems(value, _of(value, problems))
        elif isinstance(value, tuple) and any(isinstance(one, Result) for one in value):
            changed[name] = tuple(
                with_problems(one, _of(one, problems)) for one in value
            )
    return replace(result, **changed)


def _of(result: Any, problems: Sequence[Problem]) -> Sequence[Problem]:
    """Return the problems in files that a report counts; all, for other results."""
    if not isinstance(result, Report):
        return problems
    paths = {file.path for file in result.files}
    paths |= {group.path for group in result.groups}
    return [problem for problem in problems if problem.place.path in paths]


#: Options that change nothing in a report, which is the same without them.
_WITH_VALUE = frozenset(
    {
        "--jobs",
        "--engine",
        "--cluster-timeout",
        "--report",
        "--output-format",
        "--progress",
    }
)
_FLAGS = frozenset({"--quiet", "-q"})


def shown_command(arguments: Iterable[str]) -> str:
    """Return a command line without options that change no report.

    These say how it was run and where reports go. Passwords in URLs are masked.
    """
    kept = []
    left = iter(arguments)
    for argument in left:
        name, equals, _ = argument.partition("=")
        if argument in _FLAGS:
            continue
        if name in _WITH_VALUE:
            if not equals:
                next(left, None)
            continue
        kept.append(_masked(argument))
        if argument == "--":
            kept += map(_masked, left)
    return shlex.join(kept)


def _masked(argument: str) -> str:
    """Return an argument without the secrets of a URL that it is, assigns or has."""
    name, equals, value = masked(argument).partition("=")
    return all_masked(f"{name}{equals}{masked(value)}")
