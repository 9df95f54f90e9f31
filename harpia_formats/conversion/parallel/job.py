"""What crosses process boundaries when rows are converted: plain data only."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.conversion.containers.row_writer import RowEncoder
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.row_files import StoredRows
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Header
from harpia_formats.validation.plan.file_plan import FilePlan


@dataclass(frozen=True, slots=True)
class ConversionJob:
    """How the rows of one file are converted, which is the same for all of them."""

    plan: FilePlan
    #: The options without what cannot be sent to another process.
    options: ConvertOptions
    #: The id of the format that is written.
    target: str
    #: Encodes rows as the file takes them.
    encoder: RowEncoder
    #: Whether each model has a file of its own.
    is_split: bool
    #: What is put in front of the ids of the file if the options ask for it.
    prefix: str
    #: The names of the fields in mapped columns, by the names of the columns.
    fields: dict[str, str]
    #: What stands around the rows, as far as their reader needs it.
    surroundings: Mapping[str, Any]
    #: The columns of a table, from its header.
    columns: tuple[str, ...]
    #: Whether the file is the only input.
    is_only: bool
    #: The folder for files of rows, which are faster than a pipe; "" to return the rows
    #: themselves, where a worker may not see the folder.
    folder: str

    @property
    def is_far(self) -> bool:
        """Whether other machines may do the work, where results can be lost."""
        return self.plan.fingerprint is not None


#: The paths and fates of records that have the same ones, the place of the first such
#: record, and their number. Its line counts from the beginning of the unit where that
#: is not known, and its record from the beginning of the part.
PartFates = tuple[tuple[str, ...], tuple[FieldFate, ...], Place | None, int]


@dataclass(slots=True)
class ConvertedRows:
    """The rows that a part of a unit became, and what became of the fields."""

    #: Records before the part, as far as the worker could know.
    before: int
    #: Records and lines that were read.
    records: int = 0
    lines: int = 0
    fates: list[PartFates] = field(default_factory=list)
    #: The digests of the ids of the rows.
    digests: "array[int]" = field(default_factory=lambda: array("Q"))
    #: The headers that were in rows.
    headers: list[Header] = field(default_factory=list)
    #: The models of the answers, if one of them is wanted, and whether that is there.
    models: list[str] = field(default_factory=list)
    has_model: bool = False
    #: The metrics of the scores, as the models.
    metrics: list[str] = field(default_factory=list)
    has_metric: bool = False
    #: The rows that were written, as they follow each other in their file.
    blocks: list[StoredRows] = field(default_factory=list)
    #: Where they begin in it.
    at: int = 0
    #: What would be in the file, if there is none.
    data: bytes = b""
    #: The file of the rows, if it is not the usual one of the unit.
    file: str = ""


@dataclass(slots=True)
class Part:
    """Rows of a unit that follow each other: the first byte, and that behind them."""

    begin: int
    end: int
    #: None if the main process has to convert them itself, since something was found.
    converted: ConvertedRows | None
