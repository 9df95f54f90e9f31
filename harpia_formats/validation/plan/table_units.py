"""Framing the records of a table into units."""

from collections.abc import Iterable, Iterator

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.parsing.csv_blocks import (
    TableBlank,
    TableBlock,
    TableFault,
    TableRow,
)

#: Records of a table that were cut together, with blank lines and faults.
TableBatch = tuple[TableRow | TableBlank | TableFault, ...]
#: How many records are validated together at most, and bytes after which no more are.
#: More records at once cost time: their objects live until the garbage collector runs.
BATCH, BATCH_BYTES = 32, 64 * 1024


def table_batches(
    pieces: Iterable[TableRow | TableBlank | TableFault | TableBlock],
) -> Iterator[TableBatch | TableBlock]:
    """Yield the pieces of a table, up to `BATCH` or `BATCH_BYTES` together.

    A block is yielded alone.
    """
    held: list[TableRow | TableBlank | TableFault] = []
    size = 0
    for piece in pieces:
        if isinstance(piece, TableBlock):
            if held:
                yield tuple(held)
                held, size = [], 0
            yield piece
            continue
        held.append(piece)
        size += bytes_in((piece,))
        if size >= BATCH_BYTES or len(held) == BATCH:
            yield tuple(held)
            held, size = [], 0
    if held:
        yield tuple(held)


def start_of(pieces: TableBatch | TableBlock) -> Cursor:
    """Return where in the file pieces of a table begin."""
    return pieces.start if isinstance(pieces, TableBlock) else pieces[0].start


def bytes_in(pieces: TableBatch | TableBlock) -> int:
    """Return how many bytes of a table its pieces have, without most ends of lines."""
    if isinstance(pieces, TableBlock):
        return len(pieces.data)
    return sum(
        len(each.data) if isinstance(each, TableRow) else each.size for each in pieces
    )


def first_pieces(
    pieces: TableBatch,
    records: int,
    is_below_header: bool,  # noqa: FBT001 - passed by name
) -> TableBatch:
    """Return the pieces up to the last of so many records; the header is none."""
    left = records
    for kept, piece in enumerate(pieces):
        if left == 0:
            return pieces[:kept]
        if isinstance(piece, TableRow) or (
            isinstance(piece, TableFault) and piece.record
        ):
            left -= is_below_header
            is_below_header = True
    return pieces
