"""Count the records of files in any record format, and the options of such a run."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.run_options import RunOptions
from harpia_formats.evaluation.statistics.duplicates import (
    KINDS,
    Duplicates,
    repetitions,
)
from harpia_formats.evaluation.statistics.record_counts import RecordCounter
from harpia_formats.evaluation.statistics.statistics_result import (
    Statistics,
    statistics_of,
)
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.workers.pool import WorkerPool, open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.problem import OptionError, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.redaction import problems_shown, redaction_of

if TYPE_CHECKING:  # only with workers
    from harpia_formats.evaluation.statistics.count_ranges import CountingWorkers


#: Values of a field that are listed if nothing else is asked for, and at most.
TOP, MOST_TOP = 10, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions(RunOptions):
    """The options of statistics, with the defaults of the command line.

    Raises `OptionError` for values outside of their range.
    """

    #: How many values of models, categories, ... are listed.
    top: int = TOP
    #: Only so many records of each file are counted; None for all.
    limit: int | None = None

    def __post_init__(self) -> None:
        RunOptions.__post_init__(self)
        if self.limit is not None and self.limit < 1:
            raise OptionError(f"limit must be at least 1, not {self.limit:,}")
        if not 1 <= self.top <= MOST_TOP:
            raise OptionError(f"top must be from 1 to {MOST_TOP:,}, not {self.top:,}")


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
            inputs, options, fail_fast=not options.skips_invalid, limit=options.limit
        )
        #: The names of the files, in the order of their numbers.
        self._files: list[str] = []
        self._duplicates = Duplicates()
        self._counter = RecordCounter(self._duplicates)
        self._repetitions = dict.fromkeys(KINDS, repetitions((), ()))
        self._problems: list[Problem] = []

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Count everything; yield the problems of the data."""
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        """Count everything; yield the problems of the data as they are."""
        with self._duplicates, open_pool(self._options) as pool:
            problems = self._reading.problems(
                self._counter.receive,
                self._begin,
                lambda _: None,
                self._counter,
                self._workers(pool),
            )
            for problem in problems:
                self._problems.append(problem)
                yield problem
            self._counter.flush()
            self._repetitions = self._duplicates.found(self._files)

    def _workers(self, pool: WorkerPool | None) -> "CountingWorkers | None":
        """Return what counts the rows of large files, None without workers."""
        is_whole = self._options.limit is None
        if pool is None or not is_whole or self._reading.companions.are_by_id:
            return None
        from harpia_formats.evaluation.statistics.count_ranges import (  # noqa: PLC0415 - only with workers
            CountingWorkers,
        )

        return CountingWorkers(pool, self._counter)

    def _begin(self, variant: FormatVariant, count: FileCount) -> None:
        """Get ready for a file."""
        self._files.append(count.path)
        self._counter.open(variant)

    def statistics(self) -> Statistics:
        """Return the statistics, after the iteration has ended."""
        report = self._reading.tally.report()
        found = statistics_of(
            self._counter.counts,
            self._repetitions,
            self._files,
            replace(report, problems=tuple(self._problems)),
            top=self._options.top,
            is_broken=not self._options.are_met_by(report),
            notes=self._reading.companions.notes(),
        )
        if self._redaction is None:
            return found
        from harpia_formats.evaluation.statistics.redacted_statistics import (  # noqa: PLC0415 - most runs show values
            redacted_statistics,
        )

        return redacted_statistics(found, self._redaction)
