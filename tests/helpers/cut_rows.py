"""Bytes in blocks, and the rows, places and faults that framing finds in them."""

from collections.abc import Iterable, Iterator

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault


def blocks_of(data: bytes, size: int) -> Iterator[bytes]:
    """Return data in blocks of a size, of which the last may be shorter."""
    return (data[at : at + size] for at in range(0, len(data), size))


def placed_rows(found: Iterable[Chunk | FramingFault]) -> list[tuple[Cursor, bytes]]:
    """Return the rows of chunks, each with where it starts."""
    return [
        (each.start_of(number), row)
        for each in found
        if isinstance(each, Chunk)
        for number, row in enumerate(each.rows)
    ]


def rows_in(found: Iterable[Chunk | FramingFault]) -> list[bytes]:
    """Return the rows of chunks."""
    return [row for _, row in placed_rows(found)]


def faults_in(found: Iterable[Chunk | FramingFault]) -> list[tuple[str, int]]:
    """Return the kind and the byte offset of each fault."""
    return [
        (each.kind, each.start.offset)
        for each in found
        if isinstance(each, FramingFault)
    ]


def counted_cursor(data: bytes, offset: int) -> Cursor:
    """Return the position of a byte, counted in the decoded text before it."""
    before = data[:offset].decode().removeprefix("\ufeff")
    column = len(before.rpartition("\n")[2])
    return Cursor(offset, before.count("\n") + 1, column)
