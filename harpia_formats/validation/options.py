"""How to validate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.io.source import ReadProgress
from harpia_formats.mapping.columns import check_field_names

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True)
class Options:
    """How to validate; the defaults are those of the command line.

    Raises `ValueError` or `TypeError` for what no validation could mean.
    """

    #: A format id, or the name of a family such as `eee`; recognised if None.
    format: str | None = None
    #: The column of each field, where files are tables of any columns.
    columns: Mapping[str, str] | None = None
    #: A draft-07 schema, or the file that holds it, instead of a format.
    schema: dict[str, Any] | bool | PathLike[str] | str | None = None
    #: Codes, prefixes and names of rules.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Check the rules too that are only checked when asked for.
    lint: bool = False
    #: Hold files to what the vendor's document says.
    strict: bool = False
    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    #: A file that says what is in the others: an aggregate, the input of an output.
    companion: PathLike[str] | str | None = None
    #: Stop at the first error.
    fail_fast: bool = False
    #: Records of each file that are looked at; all if None.
    limit: int | None = None
    #: Let the schema's `format` refuse values.
    assert_formats: bool = False
    #: Ask the reference engine about every record.
    cross_check: bool = False
    max_row_bytes: int = ROW_LIMIT
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Does the work of large runs instead of processes of our own, `jobs` pieces at
    #: once if that is given.
    executor: "Executor | None" = None
    #: The address of a cluster that does it: `dask://host:port`.
    engine: str | None = None
    #: Called now and then with the file that is read, as far as it is.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.schema is not None:
            raise ValueError("schema and format exclude each other")
        if self.schema is not None and (self.strict or self.companion is not None):
            raise ValueError("strict and companion are about formats, not a schema")
        if self.columns is not None:
            check_field_names(self.columns)
            if self.schema is not None or self.format != "csv":
                raise ValueError('columns are those of format "csv"')
        for name in ("select", "ignore"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} takes several rules, such as ('J', 'S101')")
        _at_least(
            0, examples=self.examples, max_problems=self.max_problems, jobs=self.jobs
        )
        _at_least(1, max_row_bytes=self.max_row_bytes)
        if self.engine is not None or self.executor is not None:
            from harpia_formats.workers.engine import check_engine  # noqa: PLC0415 - most runs have none

            check_engine(self.engine, self.executor)
        if self.limit is not None:
            _at_least(1, limit=self.limit)


def _at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < least:
            raise ValueError(f"{name} must be at least {least}, not {number}")
