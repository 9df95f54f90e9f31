"""Units of work: parts of a file that are validated on their own.

They are structures of msgspec, because a dataclass takes about ten times as long to
define (0.4 ms), which every start of the command line would pay for each of them.
"""

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import DocumentHeader
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.model.problem import Path as ValuePath

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.files.parsing.csv_blocks import TableBlock
    from harpia_formats.validation.plan.file_plan import RunPlan
    from harpia_formats.validation.plan.table_units import TableBatch

#: Code, pointer and cause: problems that are equal in these are one group.
GroupKey = tuple[str, str, str]


class Demand(msgspec.Struct, frozen=True):
    """Which problems a unit need not describe, because there are enough examples."""

    #: Groups that have as many examples as are wanted.
    satisfied: AbstractSet[GroupKey] = frozenset()
    #: Whether of each group only the first problem is needed.
    firsts_only: bool = False
    #: Rules that have the examples of all groups but those in `named`.
    satisfied_rest: AbstractSet[str] = frozenset()
    named: AbstractSet[GroupKey] = frozenset()

    def needs(self, group: GroupKey) -> bool:
        """Return whether an example of a group may still be wanted."""
        if group in self.satisfied:
            return False
        return group[0] not in self.satisfied_rest or group in self.named


class CutRows(msgspec.Struct, frozen=True):
    """Rows that were cut in this process."""

    chunk: Chunk
    #: Where in its record each row is: the path of a column, else ().
    path: ValuePath = ()
    #: Records of the file, or items of the column, before the first row.
    before: int = 0


class TableRows(msgspec.Struct, frozen=True):
    """Records of a table, below its header."""

    #: The names of the columns; empty until the header was read.
    columns: tuple[str, ...]
    pieces: "TableBatch"
    #: Records of the table before the first piece.
    before: int = 0
    #: Whether the header allows to validate rows.
    is_usable: bool = True


class TableRecords(msgspec.Struct, frozen=True):
    """Whole records of a table, all with as many fields as its header."""

    #: The names of the columns.
    columns: tuple[str, ...]
    block: "TableBlock"
    #: Records of the table before the first one.
    before: int
    #: Whether the header allows to validate rows.
    is_usable: bool


class DocumentRest(msgspec.Struct, frozen=True):
    """A document without its records, and how many items each column has."""

    header: DocumentHeader
    lengths: dict[ValuePath, int] = msgspec.field(default_factory=dict)
    #: How many records stand before its end.
    records: int = 0


class Broken(msgspec.Struct, frozen=True):
    """Bytes that could not be cut into rows."""

    fault: FramingFault
    #: Records of the file before them.
    before: int = 0


#: The units that are validated in the process that reads the file.
LocalUnit = CutRows | TableRows | TableRecords | DocumentRest | Broken


class FileBytes(msgspec.Struct, frozen=True):
    """Bytes that a worker reads from a file: the one of the plan, or one in memory."""

    origin: Path | RemoteFile
    begin: int
    size: int


class SentBytes(msgspec.Struct, frozen=True):
    """Bytes that are sent with the unit."""

    data: bytes

    def __repr__(self) -> str:
        # Rows are not for the logs of a cluster.
        return f"SentBytes({self.size} bytes)"

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self.data)


class Piece(msgspec.Struct, frozen=True):
    """Rows of an array that were cut together, and how many bytes they have."""

    size: int
    start: Cursor
    #: The number of rows; 0 where the bytes are one row, whatever they hold.
    rows: int


class RowRange(msgspec.Struct, frozen=True):
    """Whole rows of a file, to be validated in another process: plain data."""

    #: The first byte in the file, and the one behind the last.
    begin: int
    end: int
    #: The place of the first byte; line 1 where its line is not known.
    start: Cursor
    bytes: FileBytes | SentBytes
    #: How the bytes are cut into rows, if the rows are not lines.
    pieces: tuple[Piece, ...] = ()


class WholeFile(msgspec.Struct, frozen=True):
    """A small file that is validated as a whole in another process."""

    run: "RunPlan"
    name: str
    origin: Path | RemoteFile
    #: The bytes it must have, if the worker may see another file.
    size: int | None = None
    #: Whether it was found in a folder, not named by the user.
    is_found: bool = False
    #: The encoding of its text that the user named, None for UTF-8.
    encoding: str | None = None
