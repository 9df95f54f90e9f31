"""What a worker answers that has converted rows: plain data only."""

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

from harpia_formats.conversion.parallel.row_files import StoredRows
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Header

#: The paths and fates of records that have the same ones, the place of the first such
#: record, and their number. Its line counts from the beginning of the unit where that
#: is not known, and its record from the beginning of the part.
PartFates = tuple[tuple[str, ...], tuple[FieldFate, ...], Place | None, int]


class UnitPlace(NamedTuple):
    """Where the rows of a unit belong."""

    #: Records before it, if that is needed.
    before: int
    #: The number of the file for its rows.
    slot: int
    #: Records in the units before it that were handed out.
    handed: int = 0
    #: Whether its bytes are decoded rows from `encoded_rows`.
    is_decoded: bool = False


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
