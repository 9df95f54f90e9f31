"""Read records of a table again that were handed to other processes."""

from collections.abc import Iterator
from pathlib import Path

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.byte_ranges import RangeReader
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.parsing.csv_blocks import TableBlock
from harpia_formats.files.parsing.csv_pieces import TableFault, TablePiece
from harpia_formats.formats.detection.read_blocks import ReadBlocks
from harpia_formats.model.report import FileCount
from harpia_formats.validation.parallel.handed_out import HandedOut
from harpia_formats.validation.plan.table_units import TableBatch
from harpia_formats.validation.second_pass import table_frames


def records_again(
    handed: HandedOut, begin: int, end: int, path: Path
) -> Iterator[TableBatch | TableBlock]:
    """Yield the records of a table from byte `begin` to `end`, for this process.

    If none begins at `end`, all that follow are yielded and nothing more is handed out:
    the table was cut inside of a field.
    """
    place = handed.place
    assert place is not None  # noqa: S101 - the records are those of a range
    total = handed.file.blocks.reader.total or end
    reader = RangeReader(handed.plan.name, begin, total, path)
    blocks = ReadBlocks(reader, FileCount(reader.name))
    landed: list[Cursor] = []

    def belongs(piece: TablePiece) -> bool:
        is_end = not isinstance(piece, TableFault) and piece.start.offset == end
        if is_end:
            landed.append(piece.start)
        return not is_end

    yield from table_frames(ByteBuffer(iter(blocks)), place, handed.plan, belongs)
    if blocks.error is not None:
        handed.file.blocks.error = blocks.error
    handed.is_over = not landed
    handed.place = landed[0] if landed else Cursor(total, place.line)
    handed.file.count.bytes = handed.place.offset
