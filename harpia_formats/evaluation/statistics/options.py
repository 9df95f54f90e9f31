"""The options of statistics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from harpia_formats.conversion.options import OnInvalid
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.io.exclude import check_patterns
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT, check_cluster_timeout
from harpia_formats.model.column_map import check_field_names
from harpia_formats.model.errors import OptionError
from harpia_formats.model.text.spelling import hint_on

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor

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
    #: The document with which the rows are read, such as the results beside the samples
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
        known = ("fail", "skip")
        if self.on_invalid not in known:
            given = self.on_invalid
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
            from harpia_formats.files.workers.engine import check_engine  # noqa: PLC0415 - most runs use no engine

            check_engine(self.engine, self.executor)
