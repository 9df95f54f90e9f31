"""Count the records of files in any record format."""

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.statistics.collect import RecordCounter
from harpia_formats.evaluation.statistics.counts import Counts
from harpia_formats.evaluation.statistics.duplicates import Duplicates, Repetitions
from harpia_formats.evaluation.statistics.fields import RecordPlace
from harpia_formats.evaluation.statistics.keys import KINDS
from harpia_formats.evaluation.statistics.options import StatsOptions
from harpia_formats.evaluation.statistics.result import Statistics, statistics_of
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.workers.pool import WorkerPool, open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.redaction import problems_shown, redaction_of

if TYPE_CHECKING:  # only for several processes: start-up time
    from harpia_formats.evaluation.statistics.count_ranges import CountingWorkers

#: For places that are whole already.
NOTHING_BEFORE = RecordPlace(0, 0)


class StatisticsRun:
    """One run: iterate over it for the problems of the data, then call `statistics`.

    Raises `ConversionError`, `UnknownFormat`, `MapError`, `CompanionError`,
    `EngineError` or `ValueError` for a run that is not possible.
    """

    def __init__(
        self, inputs: Iterable[Input], options: StatsOptions | None = None
    ) -> None:
        self._options = options = options or StatsOptions()
        self._redaction = redaction_of(options)
        self._reading = Reading(
            inputs,
            options.from_,
            columns=options.columns,
            delimiter=options.delimiter,
            from_csv_safe=options.from_csv_safe,
            fail_fast=not options.skips_invalid,
            max_row_bytes=options.max_row_bytes,
            progress=options.progress,
            files=options,
            limit=options.limit,
        )
        #: The names of the files, in the order of their numbers.
        self.files: list[str] = []
        self.counts = Counts()
        self.duplicates = Duplicates()
        self.counter = RecordCounter(lambda counts: self.add(counts, NOTHING_BEFORE))
        self._repetitions = dict.fromkeys(KINDS, Repetitions())
        self._problems: list[Problem] = []

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Count everything; yield the problems of the data."""
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        options = self._options
        with (
            self.duplicates,
            open_pool(options) as pool,
        ):
            problems = self._reading.problems(
                self.counter.receive,
                self._begin,
                lambda _: None,
                self.counter,
                self._workers(pool),
            )
            for problem in problems:
                self._problems.append(problem)
                yield problem
            self.settle()
            self._repetitions = self.duplicates.found()

    def _workers(self, pool: WorkerPool | None) -> "CountingWorkers | None":
        """Return what counts the rows of large files, None without workers."""
        is_cut_short = self._options.limit is not None
        if pool is None or is_cut_short or self._reading.companions.are_by_id:
            return None
        from harpia_formats.evaluation.statistics.count_ranges import (  # noqa: PLC0415 - only with workers
            CountingWorkers,
        )

        return CountingWorkers(pool, self)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Get ready for a file."""
        self.settle()
        self.files.append(count.path)
        self.counter.open(variant, len(self.files) - 1)

    def settle(self) -> None:
        """Add what was counted in this process to the totals."""
        self.add(self.counter.take(), NOTHING_BEFORE)

    def add(self, counts: Counts, before: RecordPlace) -> None:
        """Add counts over further records.

        Their places are moved by the records and lines `before` them, into that file.
        Raises `SourceError` if a temporary file cannot be written.
        """
        if not counts.records:
            return

        def shift(place: RecordPlace) -> RecordPlace:
            line = place.line and place.line + before.line
            return RecordPlace(
                place.file + before.file, place.record + before.record, line
            )

        self.counts.merge(counts, shift)
        file = before.file or len(self.files) - 1
        self.duplicates.add(counts.keys, file, before.record)

    @property
    def _is_broken(self) -> bool:
        report = self._reading.tally.report()
        is_read = report.ok or self._options.skips_invalid
        return not is_read or bool(report.failures) or report.lacks_records

    def statistics(self) -> Statistics:
        """Return the statistics, after the iteration has ended."""
        report = replace(self._reading.tally.report(), problems=tuple(self._problems))
        found = statistics_of(
            self.counts,
            self._repetitions,
            self.files,
            report,
            top=self._options.top,
            is_broken=self._is_broken,
            notes=self._reading.companions.notes(),
        )
        if self._redaction is None:
            return found
        from harpia_formats.evaluation.statistics.redacted import redacted_statistics  # noqa: PLC0415 - most runs show values

        return redacted_statistics(found, self._redaction)
