"""Work on a file that is done elsewhere, and what it comes to: plain data only."""

from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from harpia_formats.detection.sampled_file import Framing
from harpia_formats.framing.chunk import Cursor
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.model.problem import Problem
from harpia_formats.schema.load import Schema
from harpia_formats.validation.options import Options
from harpia_formats.workers.same_file import FileFingerprint

#: Code, pointer and missing key of equal findings in one file.
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """How all the work of one kind is to be done."""

    #: What tells it from all others: 1 and true are equal in schemas otherwise.
    key: str
    #: Without what is no plain data.
    options: Options
    #: Codes of the rules in force.
    rules: tuple[str, ...]
    #: The user's schema with its name, if it is judged by one.
    schema: tuple[str, Schema] | None
    #: The ids of formats that a whole file may be in.
    formats: tuple[str, ...]
    #: The format of ranges and which of its dialects, if it is known.
    format: str = ""
    dialect: int = 0
    #: Whether it is asked which ids are repeated.
    unique: bool = False
    #: How files are cut into records.
    cut: Framing = Framing.VALUES
    #: The file as it is seen where work is handed out, if not all need see the same.
    fingerprint: FileFingerprint | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of an array that were cut together."""

    #: Bytes of them, with what stands between them.
    size: int
    start: Cursor
    #: How many they are; 0 where the bytes are one row, whatever they are.
    rows: int


@dataclass(frozen=True, slots=True)
class Range:
    """Some whole rows of a file, to be read from it or with their bytes."""

    #: The file as it is called.
    name: str
    #: The first byte, and the one behind the last.
    begin: int
    end: int
    #: Where it begins; if it is to be read from the file, its line is not known.
    start: Cursor
    #: What to read the bytes from, where they begin in it, and how many they are; if
    #: it is nothing they are here.
    path: str = ""
    at: int = 0
    size: int = 0
    data: bytes = b""
    #: What the bytes are cut into, if the rows are not lines.
    pieces: tuple[Piece, ...] = ()
    #: Groups of which no further example is wanted.
    exemplified: tuple[Key, ...] = ()
    #: Whether no further example is wanted at all.
    enough: bool = False
    #: The remote file to read it from, instead of a path.
    remote: RemoteFile | None = None

    @property
    def origin(self) -> Path | RemoteFile | bytes:
        """What to read the bytes from."""
        return self.remote or (Path(self.path) if self.path else self.data)


@dataclass(frozen=True, slots=True)
class File:
    """A whole file."""

    name: str
    path: str
    #: The remote file, instead of a path.
    remote: RemoteFile | None = None
    #: Its bytes, if not all need see the same file.
    size: int | None = None

    @property
    def origin(self) -> Path | RemoteFile:
        """What to read it from."""
        return self.remote or Path(self.path)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in some rows; records are numbered from 1."""

    records: int = 0
    #: How many of their lines ended.
    lines: int = 0
    #: The line in which the last record ends, 0 without a record.
    last_line: int = 0
    #: The records that are wrong and that could not be judged: a bit for each.
    wrong: bytes = b""
    open: bytes = b""
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    blanks: int = 0
    first_blank: Cursor | None = None
    #: Digests of what tells the records apart, 8 bytes each.
    digests: bytes = b""
    #: What is told, row by row, each with its group; of a group the first ones.
    told: tuple[tuple[tuple[Key, Problem], ...], ...] = ()
    #: How many of these rows come before it is known that the file is folded.
    unfolded: int | None = None
    #: How often there was something of a group beyond what is told.
    untold: tuple[tuple[Key, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFile:
    """What was found in a whole file, and what it is."""

    found: Found
    #: The format that it was judged by, as it is told, and its dialect.
    format: str | None
    dialect: str
    bytes: int
    complete: bool
    reason: str | None
    #: Whether only one finding is shown.
    folded: bool
    #: The format, which of its dialects, and how the file was cut into records;
    #: None if it is in no known format.
    variant: tuple[str, int, str] | None
    #: The last record that was judged, and whether all were.
    until: int
    whole: bool


def new_key() -> str:
    """Return what no other job has, in any process."""
    return uuid4().hex


def plain_options(options: Options) -> Options:
    """Return options without what is no plain data, or is not needed elsewhere."""
    columns = None if options.columns is None else dict(options.columns)
    return replace(
        options,
        columns=columns,
        schema=None,
        companion=None,
        progress=None,
        executor=None,
        engine=None,
        jobs=1,
    )
