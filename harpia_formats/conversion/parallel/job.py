"""What crosses process boundaries when a range is converted: plain data only."""

from dataclasses import dataclass
from pathlib import Path

from harpia_formats.conversion.record_steps import RecordSteps
from harpia_formats.framing.byte_ranges import LineRange
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.record_program import Outcome
from harpia_formats.workers.same_file import FileFingerprint


@dataclass(frozen=True, slots=True)
class ConversionJob:
    """How the ranges of one file are converted, which is the same for all of them."""

    path: str
    #: The id of the format of the rows, and the index of the dialect.
    source: str
    dialect: int
    target: str
    choices: Choices
    steps: RecordSteps
    separator: bytes
    max_row_bytes: int
    #: The folder for files of rows, which are faster than a pipe; "" to return the rows
    #: themselves, where a worker may not see the folder.
    folder: str
    #: The file, if it is a remote one.
    remote: RemoteFile | None = None
    #: The fingerprint of the file in the main process, if a worker may see another one.
    fingerprint: FileFingerprint | None = None
    #: Whether the ids of rows are compared, if the target has any.
    checks_ids: bool = True

    @property
    def origin(self) -> Path | RemoteFile:
        """The file that is converted."""
        return self.remote or Path(self.path)

    @property
    def is_far(self) -> bool:
        """Whether other machines may do the work, where results can be lost."""
        return self.fingerprint is not None


#: What became of the fields of some records; the place of the first of them, counted
#: from the start of the part (bytes, lines, records); and their number.
PartOutcome = tuple[Outcome, tuple[int, int, int], int]


@dataclass(frozen=True, slots=True)
class ConvertedPart:
    """The rows that a part of a range became, and what became of the fields."""

    #: Bytes of the rows, without the separator behind the last row.
    size: int
    #: Rows that were written; records and lines that were read.
    count: int
    records: int
    lines: int
    outcomes: list[PartOutcome]
    #: The ids of the rows as keys.
    keys: list[str]
    #: The rows, if there is no folder for them.
    rows: bytes = b""
    #: The file of the rows, if it is not the usual one of the range.
    file: str = ""
    #: Where the rows begin in the file.
    begin: int = 0


#: The parts of a range in order. None is for a part that the main process has to
#: convert itself, since it has findings.
Parts = list[tuple[LineRange, ConvertedPart | None]]
