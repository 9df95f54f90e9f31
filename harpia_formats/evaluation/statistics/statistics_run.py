"""Count the records of files in any record format, and the options of such a run."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from harpia_formats.conversion.options import OnInvalid
from harpia_formats.conversion.reading.reader import Reading
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
from harpia_formats.files.io.discovery import check_patterns
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    check_cluster_timeout,
    check_engine,
)
from harpia_formats.files.workers.pool import WorkerPool, open_pool
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.model.column_map import check_field_names
from harpia_formats.model.problem import OptionError, Problem
from harpia_formats.model.report import FileCount
from harpia_formats.model.spelling import hint_on
from harpia_formats.validation.redaction import problems_shown, redaction_of

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor

    from harpia_formats.evaluation.statistics.count_ranges import CountingWorkers


#: Values of a field that are listed if nothing else is asked for, and at most.
TOP, MOST_TOP = 10, 1000


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """The options of statistics, with the defaults of the command line.

    Raises `OptionError` for values outside of their range.
    """

    #: The id of the format of the inputs, detected if None.
    from_: str | None = None
    #: How many values of models, categories, ... are listed.
    top: int = TOP
    #: Only so many records of each file are counted; None for all.
    limit: int | None = None
    #: What to do with an invalid row: "fail", or "skip" to leave it out with a note.
    on_invalid: OnInvalid | str = OnInvalid.FAIL
    #: The column of each field, for CSV and other tables.
    columns: Mapping[str, str] | None = None
    #: The character between the fields of tables that are read, or its name; None for
    #: the tab in files called .tsv and the comma in others.
    delimiter: str | None = None
    #: Whether tables were written with `csv_safe`: its marks are taken back.
    from_csv_safe: bool = False
    #: Show no value of a record: models, categories and the like by numbers.
    redact: bool = False
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Pass over files in no known format, and say how many.
    skip_unrecognised: bool = False
    #: Fewer valid records in all files are an error.
    min_records: int = 0
    #: The document with which the rows are read, such as the results for the samples
    #: of a harness; None for one that is found by the names of the files.
    companion: PathLike[str] | str | None = None
    max_row_bytes: int = ROW_LIMIT
    #: The number of worker processes; 0 for one for each processor.
    jobs: int = 0
    #: Runs the work instead of worker processes, `jobs` tasks at once if that is set.
    executor: "Executor | None" = None
    #: The address of a cluster that runs the work: `dask://host:port`.
    engine: str | None = None
    #: Seconds that the run waits for a cluster that has no workers.
    cluster_timeout: float = CLUSTER_TIMEOUT
    #: Called regularly with the file that is being read and its position.
    progress: Callable[[ReadProgress], None] | None = None

    @property
    def skips_invalid(self) -> bool:
        """Whether invalid rows are left out."""
        return self.on_invalid == OnInvalid.SKIP

    def __post_init__(self) -> None:
        known, given = ("fail", "skip"), self.on_invalid
        if given not in known:
            hint = hint_on(str(given), known)
            raise OptionError(f"on_invalid cannot be {given!r}{hint}")
        if self.columns is not None:
            check_field_names(self.columns)
        check_patterns(self.exclude)
        if self.limit is not None and self.limit < 1:
            raise OptionError(f"limit must be at least 1, not {self.limit:,}")
        if not 1 <= self.top <= MOST_TOP:
            raise OptionError(f"top must be from 1 to {MOST_TOP:,}, not {self.top:,}")
        if min(self.jobs, self.min_records) < 0 or self.max_row_bytes < 1:
            raise OptionError(
                "jobs and min_records must not be negative, nor max_row_bytes below 1"
            )
        check_cluster_timeout(self.cluster_timeout)
        if self.engine is not None or self.executor is not None:
            check_engine(self.engine, self.executor)


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
        is_read = report.ok or self._options.skips_invalid
        found = statistics_of(
            self._counter.counts,
            self._repetitions,
            self._files,
            replace(report, problems=tuple(self._problems)),
            top=self._options.top,
            is_broken=not is_read or bool(report.failures) or report.lacks_records,
            notes=self._reading.companions.notes(),
        )
        if self._redaction is None:
            return found
        from harpia_formats.evaluation.statistics.redacted_statistics import (  # noqa: PLC0415 - most runs show values
            redacted_statistics,
        )

        return redacted_statistics(found, self._redaction)
