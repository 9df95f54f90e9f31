"""Framing the rows of a file into units that other processes validate."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.files.framing.byte_ranges import line_ranges
from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    DocumentHeader,
    RowArray,
)
from harpia_formats.files.io.remote.file import RemoteFile
from harpia_formats.validation.parallel.memory_files import MemoryFiles
from harpia_formats.validation.plan.units import (
    FileBytes,
    Piece,
    RowRange,
    SentBytes,
)

#: Bytes of a range that a worker reads; of one whose problems are all described.
RANGE, RANGE_DESCRIBED = 8 * 1024 * 1024, 1024 * 1024
#: How many times as long the ranges for a cluster or executor are, since each range
#: costs its scheduler some time.
FAR = 4
#: Bytes of rows that are sent to a worker together.
BUNDLE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FilePart:
    """The next part of a file: a unit for a worker, or frames for this process."""

    unit: RowRange | None
    #: The frames of the unit, if they were cut in this process.
    frames: tuple[Chunk | FramingFault | RowArray | DocumentHeader, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of the rows that this process holds."""
        chunks = (frame for frame in self.frames if isinstance(frame, Chunk))
        return sum(len(chunk.data) for chunk in chunks)


def range_size(examples: int, *, is_far: bool) -> int:
    """Return the bytes of a range if so many examples are wanted of each group."""
    if not examples:
        return RANGE_DESCRIBED
    return FAR * RANGE if is_far else RANGE


def memory_files(slots: int) -> MemoryFiles:
    """Return so many files in memory, each with room for a bundle."""
    return MemoryFiles(slots, 2 * BUNDLE)


def ranges_in(
    origin: Path | RemoteFile, begin: int, total: int, size: int
) -> Iterator[FilePart]:
    """Yield the units of a file of lines from byte `begin` on, each of `size` bytes."""
    # A worker may have another working folder.
    file = origin.absolute() if isinstance(origin, Path) else origin
    try:
        for start, end in line_ranges(origin, begin, size):
            yield FilePart(_range_of(file, start, end))
            begin = end
    except OSError:
        # The process that reads the rest reports why it cannot.
        yield FilePart(_range_of(file, begin, total))


def table_ranges_in(
    path: Path, begin: int, total: int, size: int
) -> Iterator[FilePart]:
    """Yield the units of a table from the record at byte `begin` on."""
    from harpia_formats.files.parsing.csv_ranges import csv_ranges  # noqa: PLC0415 - only for tables: start-up time

    # A worker may have another working folder.
    file = path.absolute()
    try:
        for start, end in csv_ranges(file, begin, size):
            yield FilePart(_range_of(file, start, end))
            begin = end
    except OSError:
        # The process that reads the rest reports why it cannot.
        yield FilePart(_range_of(file, begin, total))


def _range_of(file: Path | RemoteFile, begin: int, end: int) -> RowRange:
    """Return the unit of the lines of `file` from byte `begin` to `end`."""
    return RowRange(begin, end, Cursor(begin), FileBytes(file, begin, end - begin))


def bundles(frames: DocumentFrames, files: MemoryFiles | None) -> Iterator[FilePart]:
    """Yield units of rows that are cut here, together as far as they are adjacent.

    Their bytes are put into files in memory, or are sent with the unit.
    """
    held: list[Chunk] = []
    size = 0
    for frame in frames:
        if isinstance(frame, Chunk):
            held.append(frame)
            size += len(frame.data)
            if size < BUNDLE:
                continue
        if held:
            yield _bundle(held, files)
            held, size = [], 0
        if not isinstance(frame, Chunk):
            yield FilePart(None, (frame,))
    if held:
        yield _bundle(held, files)


def _bundle(chunks: list[Chunk], files: MemoryFiles | None) -> FilePart:
    """Return the unit of chunks that are all of lines or all of an array."""
    first, last = chunks[0], chunks[-1]
    parts = [chunk.data for chunk in chunks]
    found: FileBytes | SentBytes | None = None if files is None else files.put(parts)
    if found is None:
        found = SentBytes(b"".join(parts))
    pieces = () if first.lines else tuple(map(_piece, chunks))
    end = last.start.offset + len(last.data)
    unit = RowRange(first.start.offset, end, first.start, found, pieces)
    return FilePart(unit, tuple(chunks))


def _piece(chunk: Chunk) -> Piece:
    """Return the bytes of a chunk of an array, and how many rows they have."""
    is_whole = len(chunk) == 1 and chunk.rows == [chunk.data]
    return Piece(len(chunk.data), chunk.start, 0 if is_whole else len(chunk))


def end_of_lines(chunk: Chunk) -> Cursor | None:
    """Return where a chunk of lines ends, if that is the beginning of a line."""
    if not chunk.lines or not chunk.data.endswith(b"\n"):
        return None
    start = chunk.start
    return Cursor(start.offset + len(chunk.data), start.line + len(chunk))
