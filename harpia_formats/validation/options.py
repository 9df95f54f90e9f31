"""The options of a validation, and the error on a companion file that they name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from harpia_formats.files.io.discovery import check_patterns
from harpia_formats.files.io.file_kinds import OtherKindError
from harpia_formats.files.io.reader import ROW_LIMIT, SourceError
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    check_cluster_timeout,
    check_engine,
)
from harpia_formats.model.column_map import check_field_names
from harpia_formats.model.problem import HarpiaFormatsError, OptionError

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


#: Seconds that a row may take by default.
ROW_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a validation; the defaults are those of the command line.

    Raises `OptionError` for values and combinations that are not allowed, and
    `EngineError` for an unknown engine.
    """

    #: A format id, or the name of a family such as `eee`; recognised if None.
    format: str | None = None
    #: The column or key of each field, where a format leaves them open.
    columns: Mapping[str, str] | None = None
    #: The character between the fields of a table, or its name, such as `tab`; None for
    #: the tab in files called .tsv and the comma in others.
    delimiter: str | None = None
    #: Whether tables were written with `csv_safe`: its marks are taken back.
    from_csv_safe: bool = False
    #: A draft-07 schema, or the file that holds it, instead of a format.
    schema: dict[str, Any] | bool | PathLike[str] | str | None = None
    #: Codes, prefixes and names of rules.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Check also the rules that are not checked by default.
    lint: bool = False
    #: Other severities of rules, `error`, `warning` or `note`, by codes, prefixes and
    #: names.
    severity: Mapping[str, str] = field(default_factory=dict)
    #: Validate by the vendor's documentation, without tolerated deviations.
    strict: bool = False
    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    #: A file that describes the other files: an aggregate, or the input of an output.
    companion: PathLike[str] | str | None = None
    #: A baseline: the findings that it holds are not reported.
    baseline: PathLike[str] | str | None = None
    #: Where the findings are written as a baseline, if all files can be read. Of a
    #: `baseline` that is given, too, only what is still found is written.
    write_baseline: PathLike[str] | str | None = None
    #: Show no value of a record in problems and in the report.
    redact: bool = False
    #: Count the lengths of rows in bytes, for a histogram in an HTML report.
    row_lengths: bool = False
    #: Stop at the first error.
    fail_fast: bool = False
    #: Records of each file that are validated; all if None.
    limit: int | None = None
    #: Let the schema's `format` refuse values.
    assert_formats: bool = False
    #: Compare every verdict with the reference engine.
    cross_check: bool = False
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Pass over files in no known format, and say how many.
    skip_unrecognised: bool = False
    #: It is no error if every file is left out or passed over.
    allow_no_files: bool = False
    #: Fewer records in all files are an error.
    min_records: int = 0
    #: Bytes that a row may have.
    max_row_bytes: int = ROW_LIMIT
    #: Seconds that a row may take where a user's schema may multiply its work by
    #: references or patterns (on POSIX systems).
    row_timeout: float = ROW_TIMEOUT
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Runs the work of large runs instead of our own worker processes, `jobs` units at
    #: once if that is given.
    executor: "Executor | None" = None
    #: The address of a cluster that runs it: `dask://host:port`.
    engine: str | None = None
    #: Seconds that the run waits for a cluster that has no workers.
    cluster_timeout: float = CLUSTER_TIMEOUT
    #: Called after each part of a file with how far it was read.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.schema is not None:
            raise OptionError("schema and format exclude each other")
        if self.schema is not None and (self.strict or self.companion is not None):
            raise OptionError("strict and companion are about formats, not a schema")
        if self.columns is not None:
            check_field_names(self.columns)
            _check_mapped(self)
        _check_baselines(self)
        if self.delimiter is not None:
            delimiter_named(self.delimiter)
        for name in ("select", "ignore"):
            if isinstance(getattr(self, name), str):
                raise OptionError(f"{name} takes several rules, such as ('J', 'S101')")
        check_patterns(self.exclude)
        _at_least(
            0,
            examples=self.examples,
            max_problems=self.max_problems,
            jobs=self.jobs,
            min_records=self.min_records,
        )
        _at_least(1, max_row_bytes=self.max_row_bytes)
        if not self.row_timeout > 0:
            raise OptionError(f"row_timeout must be above 0, not {self.row_timeout}")
        check_cluster_timeout(self.cluster_timeout)
        if self.engine is not None or self.executor is not None:
            check_engine(self.engine, self.executor)
        if self.limit is not None:
            _at_least(1, limit=self.limit)


def _check_mapped(options: Options) -> None:
    """Raise `OptionError` unless the files are in one format that may be mapped."""
    from harpia_formats.formats.detection.mapped_format import takes_map  # noqa: PLC0415 - only for a map: start-up time

    if options.format is None or not takes_map(options.format):
        raise OptionError(
            'columns are those of format "csv", "parquet" or "json", or of rows of '
            "another format of JSON, which must be named"
        )


def _check_baselines(options: Options) -> None:
    """Raise `OptionError` for a baseline with options that it cannot follow."""
    if options.redact and options.write_baseline is not None:
        raise OptionError(
            "`--redact` and `--write-baseline` cannot be combined: a baseline holds "
            "keys of records as they are"
        )
    for name in ("baseline", "write_baseline"):
        others = ("fail_fast", "limit") if name == "write_baseline" else ("fail_fast",)
        for other in others:
            if getattr(options, name) is not None and getattr(options, other):
                names = [f"`--{one}`".replace("_", "-") for one in (name, other)]
                raise OptionError(
                    f"{' and '.join(names)} cannot be combined: a baseline counts all "
                    "findings"
                )


def _at_least(least: int, **numbers: int) -> None:
    """Raise `OptionError` if a number, passed by its name, is less than `least`."""
    for name, number in numbers.items():
        if number < least:
            raise OptionError(f"{name} must be at least {least}, not {number}")


class CompanionError(HarpiaFormatsError):
    """A file cannot be used to check other files against it: which one, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    @classmethod
    def of(cls, error: SourceError) -> "CompanionError":
        """Return the error for a companion file that cannot be read.

        No table and no archive is one, also not of a kind that is read otherwise.
        """
        if isinstance(error, OtherKindError):
            return cls(error.path, f"is {error.kind.name}, with which no rows are read")
        return cls(error.path, error.reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
