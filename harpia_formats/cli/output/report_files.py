"""The reports that `--report` names: checked before the run, written after it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters.reporter import Options

if TYPE_CHECKING:  # most runs write no report to a file: start-up time
    from harpia_formats.reporters.report_file import ReportFile


class ReportFiles:
    """The files for reports of one run, which appear together once it is done.

    A file that is there is replaced, but not one of the run's inputs or outputs.
    """

    def __init__(
        self,
        given: Iterable[str] | None,
        kind: type[Result],
        others: Sequence[str] = (),
    ) -> None:
        """Take the values of `--report`, the type of the result, and other places.

        `others` are the paths and URLs that the run reads or writes. Raises
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
            self.paths = local_paths(self._files)

    def keeping(self, problems: Iterable[Problem]) -> Iterable[Problem]:
        """Return problems that are kept for the reports, if there are any, as found."""
        return self._kept(problems) if self._files else problems

    def _kept(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        for problem in problems:
            self._problems.append(problem)
            yield problem

    def write(self, result: Result, options: Options) -> None:
        """Write the reports of a result, a `Report` with the problems that were kept.

        Raises `SinkError`.
        """
        if not self._files:
            return
        from harpia_formats.reporters.report_file import write_files  # noqa: PLC0415 - most runs write no report to a file: start-up time

        if isinstance(result, Report):
            result = replace(result, problems=tuple(self._problems))
        write_files(self._files, result, options)
