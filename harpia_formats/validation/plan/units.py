"""Units of work: parts of a file that are validated on their own."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.framing.columns import DocumentHeader
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.model.problem import Path as ValuePath

if TYPE_CHECKING:  # only for tables: start-up time
    from harpia_formats.validation.plan.table_units import TableBatch

#: Code, pointer and missing key: problems that are equal in these are one group.
GroupKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Demand:
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


@dataclass(frozen=True, slots=True)
class CutRows:
    """Rows that were cut in this process."""

    chunk: Chunk
    #: Where in its record each row is: the path of a column, else ().
    path: ValuePath = ()
    #: Records of the file, or items of the column, before the first row.
    before: int = 0


@dataclass(frozen=True, slots=True)
class TableRows:
    """Records of a table, below its header."""

    #: The names of the columns; empty until the header was read.
    columns: tuple[str, ...]
    pieces: "TableBatch"
    #: Records of the table before the first piece.
    before: int = 0
    #: Whether the header allows to validate rows.
    is_usable: bool = True


@dataclass(frozen=True, slots=True)
class DocumentRest:
    """A document without its records, and how many items each column has."""

    header: DocumentHeader
    lengths: dict[ValuePath, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """Bytes that could not be cut into rows."""

    fault: FramingFault
    #: Records of the file before them.
    before: int = 0


#: The units that are validated in the process that reads the file.
LocalUnit = CutRows | TableRows | DocumentRest | Broken


@dataclass(frozen=True, slots=True)
class FileBytes:
    """Bytes that a worker reads from the file itself."""

    origin: Path | RemoteFile
    begin: int
    size: int


@dataclass(frozen=True, slots=True)
class SharedBytes:
    """Bytes in a block of shared memory, from its first byte on."""

    block: str
    size: int


@dataclass(frozen=True, slots=True)
class SentBytes:
    """Bytes that are sent with the unit."""

    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self.data)


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of an array that were cut together, and how many bytes they have."""

    size: int
    start: Cursor
    #: The number of rows; 0 where the bytes are one row, whatever they hold.
    rows: int


@dataclass(frozen=True, slots=True)
class RowRange:
    """Whole rows of a file, to be validated in another process: plain data."""

    #: The first byte in the file, and the one behind the last.
    begin: int
    end: int
    #: The place of the first byte; line 1 where its line is not known.
    start: Cursor
    bytes: FileBytes | SharedBytes | SentBytes
    #: How the bytes are cut into rows, if the rows are not lines.
    pieces: tuple[Piece, ...] = ()

    @property
    def is_line_known(self) -> bool:
        """Whether `start` has the line in the file: the rows were cut before."""
        return not isinstance(self.bytes, FileBytes)


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A small file that is validated as a whole in another process."""

    name: str
    origin: Path | RemoteFile
    #: The bytes it must have, if the worker may see another file.
    size: int | None = None
