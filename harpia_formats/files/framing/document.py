"""Cut a file that holds a JSON value over several lines, or several of them."""

import re

from harpia_formats.files.framing.byte_buffer import ByteBuffer, skip_space
from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    Frames,
    FramingFault,
)
from harpia_formats.files.framing.next_value import ValueState, read_value

_OPENING_BRACE = ord("{")
_next_object = re.compile(rb"\}[ \t\r]*+\n[ \t\r\n]*+(?=\{)")


def document_rows(buffer: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield each value of `buffer` as a chunk of one row.

    One value is a document. If there are more, the fault "spread" comes before the
    first. A value of more than `limit` bytes is a fault that ends the file.
    """
    is_reported = False
    while (place := skip_space(buffer, start)) is not None:
        size = _size_of_value(buffer, limit)
        if size > limit:
            buffer.data = b""
            size += sum(map(len, buffer.blocks))
            yield FramingFault("oversize", place, size, record=True)
            return
        if not is_reported and len(buffer.data.rstrip(JSON_SPACE)) > size:
            yield FramingFault("spread", place)
            is_reported = True
        data = buffer.take(size)
        row = data.rstrip(JSON_SPACE)
        yield Chunk(row, place, [row])
        start = place.after(data)


def _size_of_value(buffer: ByteBuffer, limit: int) -> int:
    """Return the bytes of the value that `buffer` begins with.

    A broken one ends where another object begins on a line of its own.
    """
    while True:
        state, end = read_value(buffer.data, 0)
        if state is ValueState.ENDED and buffer.data[end] == _OPENING_BRACE:
            return end
        if state in {ValueState.ENDED, ValueState.BROKEN}:
            another = _next_object.search(buffer.data)
            if another:
                return another.end()
        if len(buffer.data) > limit or not buffer.grow(limit + 1):
            return len(buffer.data)
