"""Find the places and the rows of what workers got, in the main process."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harpia_formats.conversion.parallel.job import Part
from harpia_formats.conversion.reading.row_batch import RowBatch
from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import (
    RangeReader,
    range_blocks,
    read_range,
)
from harpia_formats.files.framing.chunk import Chunk, Cursor, count_newlines
from harpia_formats.files.framing.lines import line_rows
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.model.problem import Place
from harpia_formats.validation.merge.file_merge import Frame
from harpia_formats.validation.parallel.cut import FilePart
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.units import FileBytes, RowRange


@dataclass(frozen=True, slots=True)
class Shift:
    """Moves a place by the lines and records before it."""

    lines: int
    records: int

    def __call__(self, found: Place) -> Place:
        """Return the place in the file of a place in a part."""
        record = self.records + (found.record or 0)
        return replace(found, line=found.line + self.lines, record=record)


@dataclass(frozen=True, slots=True)
class PlaceInBatch:
    """Finds the places of the rows of a batch, by their numbers."""

    batch: RowBatch

    def __call__(self, found: Place) -> Place:
        """Return the place in the file of the row with the number of a place."""
        index = (found.record or 1) - 1
        start = self.batch.start_of(index)
        return replace(
            found,
            line=start.line,
            column=start.column + 1,
            end_column=start.column + 2,
            byte_offset=start.offset,
            record=self.batch.numbers[index],
        )


def records_in(part: FilePart, unit: RowRange, *, is_table: bool) -> int:
    """Return how many records a unit has if each of its lines is one.

    The lines of a table are those outside of quoted fields.
    """
    given = unit.bytes
    if is_table and isinstance(given, FileBytes):
        from harpia_formats.files.parsing.csv_ranges import count_records  # noqa: PLC0415 - only for tables

        end = given.begin + given.size
        return count_records(read_range(given.origin, given.begin, end))
    if part.frames or not isinstance(given, FileBytes):
        return sum(len(frame) for frame in part.frames if isinstance(frame, Chunk))
    blocks = range_blocks(given.origin, given.begin, given.begin + given.size)
    return sum(map(count_newlines, blocks))


def frames_again(
    piece: "Part", handed: HandedOut, part: FilePart, unit: RowRange
) -> Iterator[Frame]:
    """Yield the frames of a piece of a unit, to be converted in this process."""
    given = unit.bytes
    if handed.plan.cut is Framing.TABLE:
        assert isinstance(given, FileBytes)  # noqa: S101 - tables are read in ranges
        assert isinstance(given.origin, Path)  # noqa: S101 - of this machine
        from harpia_formats.validation.parallel.records_again import records_again  # noqa: PLC0415 - only for tables

        yield from records_again(handed, piece.begin, piece.end, given.origin)
    elif handed.place is not None and isinstance(given, FileBytes):
        name, origin = handed.plan.name, given.origin
        reader = RangeReader(name, piece.begin, piece.end, origin)
        yield from handed.frames_of(part, reader)
        handed.move_on(piece.end, reader.lines)
    elif unit.pieces:
        for frame in part.frames:
            assert isinstance(frame, Chunk)  # noqa: S101 - of such a unit is made
            if piece.begin <= frame.start.offset < piece.end:
                yield frame
    else:
        chunks = (frame.data for frame in part.frames if isinstance(frame, Chunk))
        data, begin = b"".join(chunks), piece.begin - unit.begin
        line = unit.start.line + count_newlines(data[:begin])
        text = data[begin : piece.end - unit.begin]
        limit = handed.plan.run.options.max_row_bytes
        yield from line_rows(
            ByteBuffer(iter((text,))), Cursor(piece.begin, line), limit
        )
