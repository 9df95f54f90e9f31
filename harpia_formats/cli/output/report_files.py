"""The reports that `--report` names: checked before the run, written after it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.cli.output.streams import outlive_reader
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters import reporter_named
from harpia_formats.reporters.reporter import Options

if TYPE_CHECKING:  # most runs write no report to a file: start-up time
    from harpia_formats.reporters.report_file import ReportFile


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
        from harpia_formats.cli.output.ci_job import with_folders  # noqa: PLC0415 - most runs write no report to a file: start-up time
        from harpia_formats.cli.output.command_line import shown_command  # noqa: PLC0415 - most runs write no report to a file: start-up time
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
