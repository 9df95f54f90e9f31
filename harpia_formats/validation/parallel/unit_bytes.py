"""Read the bytes of a unit in a worker, and cut them into rows."""

from collections.abc import Iterable

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import RangeReader
from harpia_formats.files.framing.chunk import Chunk, Frames
from harpia_formats.files.framing.lines import line_rows
from harpia_formats.validation.plan.units import FileBytes, RowRange


def unit_reader(name: str, unit: RowRange) -> RangeReader:
    """Return the bytes of a unit, to be read once."""
    given = unit.bytes
    if isinstance(given, FileBytes):
        end = given.begin + given.size
        return RangeReader(name, given.begin, end, given.origin)
    return RangeReader(name, 0, given.size, given.data)


def unit_frames(unit: RowRange, blocks: Iterable[bytes], limit: int) -> Frames:
    """Yield the rows of a unit."""
    if not unit.pieces:
        yield from line_rows(ByteBuffer(iter(blocks)), unit.start, limit)
        return
    data, at = b"".join(blocks), 0
    for piece in unit.pieces:
        text = data[at : at + piece.size]
        if piece.rows:
            yield Chunk(text, piece.start, items=piece.rows)
        else:
            yield Chunk(text, piece.start, [text])
        at += piece.size
