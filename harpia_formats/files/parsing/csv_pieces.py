"""The pieces that a table is cut into: records, empty lines and faults."""

from dataclasses import dataclass

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.parsing.csv_fields import TableField


@dataclass(frozen=True, slots=True)
class TableRow:
    """A record of the table: the header, or a row below it."""

    start: Cursor
    #: Its bytes without its line end.
    data: bytes
    fields: tuple[TableField, ...]


@dataclass(frozen=True, slots=True)
class TableBlank:
    """Empty lines, which are no records."""

    start: Cursor
    #: How many follow each other.
    lines: int = 1
    #: Bytes that they have at least.
    size: int = 1


@dataclass(frozen=True, slots=True)
class TableFault:
    """A fault of the table, and the bytes that are skipped because of it."""

    #: The code of the rule that it breaks.
    code: str
    #: Where it is.
    start: Cursor
    #: Code points to mark from there on.
    width: int
    message: str
    help: str
    #: A piece of the physical line around its place.
    data: bytes
    #: Where in `data` it is.
    at: int
    #: The bytes of the file that are skipped, as offsets.
    passed: range
    #: Whether a record is lost because of it.
    record: bool = True


TablePiece = TableRow | TableBlank | TableFault
