"""The options of every run that reads records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from harpia_formats.files.io.discovery import check_patterns
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    check_cluster_timeout,
    check_engine,
)
from harpia_formats.model.column_map import check_field_names
from harpia_formats.model.problem import OptionError

if TYPE_CHECKING:  # it loads multiprocessing
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Which files are read, how, and by which processes, as the command line has them.

    Raises `OptionError` for values outside of their range.
    """

    #: The id of the format of the inputs; None to recognise it.
    from_: str | None = None
    #: The name of the column of each field, where a table is read or written.
    columns: Mapping[str, str] | None = None
    #: The character between the fields of tables that are read, or its name; None for
    #: the tab in files called .tsv and the comma in others.
    delimiter: str | None = None
    #: Whether tables were written with `csv_safe`: its marks are taken back.
    from_csv_safe: bool = False
    #: Show no value of a record in problems, names of groups and messages.
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
    #: The bytes that a row may have; a longer one is an error.
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

    def __post_init__(self) -> None:
        if self.columns is not None:
            check_field_names(self.columns)
        if self.delimiter is not None:
            delimiter_named(self.delimiter)
        check_patterns(self.exclude)
        if min(self.jobs, self.min_records) < 0 or self.max_row_bytes < 1:
            raise OptionError(
                "jobs and min_records must not be negative, nor max_row_bytes below 1"
            )
        check_cluster_timeout(self.cluster_timeout)
        if self.engine is not None or self.executor is not None:
            check_engine(self.engine, self.executor)
