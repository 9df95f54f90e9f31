"""Cut JSON Lines into rows: at newline bytes, before anything is parsed."""

from collections.abc import Generator

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.chunk import (
    Chunk,
    Cursor,
    Frame,
    Frames,
    FramingFault,
)


def line_rows(buffer: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield the lines of `buffer` in chunks, and a fault for each line over the limit.

    `start` is where `buffer` begins in the file, `limit` a number of bytes.
    """
    while (data := buffer.take_lines(limit)) or buffer.data:
        if not data and len(buffer.data) > limit:
            fault, start = _skip_line(buffer, start)
            yield fault
            continue
        if not data:
            data, buffer.data = buffer.data, b""
        start = yield from _lines_within(data, start, limit)


def _lines_within(
    data: bytes, start: Cursor, limit: int
) -> Generator[Frame, None, Cursor]:
    """Yield the lines of `data` as `line_rows` does; return where `data` ends."""
    chunk = Chunk(data, start)
    if len(data) <= limit or max(map(len, chunk.rows)) <= limit:
        yield chunk
        return _after_lines(start, len(data), len(chunk))
    at = 0
    for row in chunk.rows:
        line = data[at : at + len(row) + 1]
        if len(row) > limit:
            yield FramingFault("oversize", start, len(row), record=True)
        else:
            yield Chunk(line, start)
        at += len(line)
        start = _after_lines(start, len(line), 1)
    return start


def _skip_line(buffer: ByteBuffer, start: Cursor) -> tuple[FramingFault, Cursor]:
    """Skip one line without holding it; return its fault, and where the next begins."""
    size = 0
    while (end := buffer.data.find(b"\n")) < 0:
        size += len(buffer.data)
        buffer.data = b""
        if not buffer.fill(1):
            end = 0
            break
    size += end
    buffer.data = buffer.data[end + 1 :]
    fault = FramingFault("oversize", start, size, record=True)
    return fault, _after_lines(start, size + 1, 1)


def _after_lines(start: Cursor, size: int, lines: int) -> Cursor:
    """Return the position behind whole lines, given their bytes and their number."""
    return Cursor(start.offset + size, start.line + lines)
