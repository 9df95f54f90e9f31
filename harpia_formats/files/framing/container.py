"""Recognize the container of a stream; cut lines and documents into rows."""

import re
from collections.abc import Generator, Iterable
from enum import StrEnum

from msgspec import Struct, field

from harpia_formats.files.framing.chunk import (
    BOM,
    JSON_SPACE,
    Chunk,
    Cursor,
    Frame,
    Frames,
    FramingFault,
    is_blank,
    masked,
)
from harpia_formats.files.framing.unfinished_json import (
    CUT_OFF,
    ByteBuffer,
    ValueState,
    end_of_space,
    parser_error,
    read_value,
    skip_space,
)
from harpia_formats.files.io.reader import ROW_LIMIT, WINDOW


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


_OPENING_BRACE = ord("{")
_next_object = re.compile(rb"\}[ \t\r]*+\n[ \t\r\n]*+(?=\{)")


def document_rows(
    buffer: ByteBuffer, start: Cursor, limit: int, known: bytes = b""
) -> Frames:
    """Yield each value of `buffer` as a chunk of one row.

    One value is a document. If there are more, the fault "spread" comes before the
    first. A value of more than `limit` bytes is a fault that ends the file. `known` is
    a text that was decoded before, which is not parsed again to find its end.
    """
    is_reported = False
    while (place := skip_space(buffer, start)) is not None:
        size = _size_of_value(buffer, limit, known)
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
        if not (buffer.data or buffer.fill(1)):
            return
        start = place.after(data)


def _size_of_value(buffer: ByteBuffer, limit: int, known: bytes) -> int:
    """Return the bytes of the value that `buffer` begins with.

    A broken one ends where another object begins on a line of its own. `known` is the
    text of a value.
    """
    while True:
        state, end = ValueState.WHOLE, len(buffer.data)
        if buffer.data.rstrip(JSON_SPACE) != known:
            state, end = read_value(buffer.data, 0)
        if state is ValueState.ENDED and buffer.data[end] == _OPENING_BRACE:
            return end
        if state in {ValueState.ENDED, ValueState.BROKEN}:
            another = _next_object.search(buffer.data)
            if another:
                return another.end()
        if len(buffer.data) > limit or not buffer.grow(limit + 1):
            return len(buffer.data)


class Layout(StrEnum):
    """How the values of a file are put together, whatever they mean."""

    LINES = "JSON Lines"
    ARRAY = "a JSON array"
    #: One object, or several, over several lines.
    OBJECT = "a JSON object"
    #: One object in one line: a document, or the only row of JSON Lines.
    ONE_LINE = "a JSON object in one line"
    #: The first line is too long to know whether others follow.
    LONG_LINE = "a long line"
    #: Anything else.
    TEXT = "text"
    EMPTY = "nothing"


# Before Python 3.11.5, a possessive repeat may end inside of what fails (gh-106052).
_comments = re.compile(rb"(?>(?:[ \t\r\n]++|(?://|#)[^\n]*+\n|/\*.*?\*/)*)", re.DOTALL)


class OpenedContainer(Struct):
    """A stream of bytes whose layout is known, with nothing cut from it yet."""

    buffer: ByteBuffer
    layout: Layout
    #: Position of the first byte of `buffer.data`.
    start: Cursor
    #: Position behind a byte order mark.
    content_start: Cursor
    #: Faults before the first record.
    faults: list[FramingFault] = field(default_factory=list)


def open_container(blocks: Iterable[bytes]) -> OpenedContainer:
    """Read the beginning of the `blocks` of a file, and recognize its layout."""
    buffer = ByteBuffer(iter(blocks))
    buffer.fill(len(BOM))
    start = content_start = Cursor()
    faults = []
    if buffer.data.startswith(BOM):
        faults.append(FramingFault("bom", start, len(BOM)))
        buffer.data = buffer.data[len(BOM) :]
        start = content_start = Cursor(len(BOM))
    while is_blank(buffer.data) and buffer.grow():
        if is_blank(buffer.data) and len(buffer.data) > WINDOW:
            start, buffer.data = start.after(buffer.data), b""
    if is_blank(buffer.data):
        faults.append(FramingFault("empty", content_start))
        return OpenedContainer(buffer, Layout.EMPTY, start, content_start, faults)
    return OpenedContainer(buffer, _layout_of(buffer), start, content_start, faults)


def frames(blocks: Iterable[bytes], *, limit: int = ROW_LIMIT) -> Frames:
    """Yield the rows of `blocks` in chunks, and the faults around them.

    The layout is recognized by content. Nothing larger than a block, a window and a
    row is held in memory; a row of more than `limit` bytes is a fault.
    """
    opened = open_container(blocks)
    yield from opened.faults
    yield from frames_of(opened, limit)


def frames_of(opened: OpenedContainer, limit: int, known: bytes = b"") -> Frames:
    """Return the rows of a container in chunks, and the faults around them.

    `known` is the text of a document that was decoded before.
    """
    layout = opened.layout
    if layout is Layout.EMPTY:
        return iter(())
    if layout is Layout.ARRAY:
        from harpia_formats.files.framing.array import array_rows  # noqa: PLC0415 - most files are lines

        return array_rows(opened.buffer, opened.start, limit)
    if layout is Layout.LONG_LINE:
        layout = Layout.OBJECT if _is_document(opened.buffer, limit) else layout
        # All that was read for that would be cut into a single chunk.
        opened.buffer.put_back(WINDOW)
    if layout is Layout.OBJECT:
        return document_rows(opened.buffer, opened.start, limit, known)
    return line_rows(opened.buffer, opened.start, limit)


def _layout_of(buffer: ByteBuffer) -> Layout:
    """Return the layout that `buffer` begins with."""
    first = buffer.data.lstrip(JSON_SPACE)[:1]
    if first == b"[":
        return Layout.LINES if _is_array_a_line(buffer) else Layout.ARRAY
    if first != b"{":
        return _layout_after_comment(buffer)
    if not _holds_a_line(buffer):
        return Layout.LONG_LINE
    if _is_document(buffer, WINDOW):
        return Layout.OBJECT
    is_one_line = not _first_lines(buffer.data)[1] and not buffer.grow()
    return Layout.ONE_LINE if is_one_line else Layout.LINES


def _layout_after_comment(buffer: ByteBuffer) -> Layout:
    """Return `OBJECT` if a document follows comments, which JSON does not have."""
    buffer.fill(WINDOW)
    rest = without_leading_comments(buffer.data)
    if len(rest) < len(buffer.data) and rest.startswith((b"{", b"[")):
        layout = _layout_of(ByteBuffer(iter(()), rest))
        # An array is read as one value, too, so that its comment is reported once.
        if layout in {Layout.OBJECT, Layout.ARRAY}:
            return Layout.OBJECT
    return Layout.TEXT


def without_leading_comments(data: bytes) -> bytes:
    """Return `data` without the white space and comments that it begins with."""
    found = _comments.match(data)
    return data[found.end() :] if found else data


def _holds_a_line(buffer: ByteBuffer) -> bool:
    """Tell whether the first line ends within a window, or with the file."""
    while not (is_whole := _first_lines(buffer.data)[2]):
        if len(buffer.data) >= WINDOW:
            break
        if not buffer.grow(WINDOW):
            return True
    return is_whole


def _is_array_a_line(buffer: ByteBuffer) -> bool:
    """Tell whether the first line is a whole array and another value follows it."""
    buffer.fill(WINDOW)
    first, second, _ = _first_lines(buffer.data[:WINDOW])
    return second.startswith((b"[", b"{")) and not _error_of(first)


def _is_document(buffer: ByteBuffer, limit: int) -> bool:
    """Tell whether `buffer` begins with an object that is spread over several lines.

    If the first line is not a whole value, the second one decides: in a document it
    continues the object, in JSON Lines it begins another. At most `limit` bytes are
    read for that.
    """
    first, second, is_whole = _first_lines(buffer.data)
    while not is_whole and len(buffer.data) < limit and buffer.grow(limit):
        first, second, is_whole = _first_lines(buffer.data)
    # With its newline, a line that ends inside of a string is broken, not cut off.
    if not second or _error_of(first + b"\n") != CUT_OFF:
        return False
    if not second.startswith((b"{", b"[")):
        return True
    if _is_closed_later(buffer):
        return True
    is_open = first.rstrip(JSON_SPACE).endswith((b"{", b"[", b",", b":"))
    return is_open and bool(_error_of(second))


def _error_of(line: bytes) -> str:
    """Return the parser's message about a line, whose numbers may be NaN or Infinity.

    They break no value here: whether they are a fault depends on the format.
    """
    error = parser_error(line)
    return parser_error(masked(line)) if error not in {"", CUT_OFF} else error


def _is_closed_later(buffer: ByteBuffer) -> bool:
    """Tell whether an object that the first line leaves open is closed by later ones.

    One that is still open after a window counts as closed if that has more than two
    lines.
    """
    while True:
        data = buffer.data.strip(JSON_SPACE)
        state, _ = read_value(data, 0)
        if state is not ValueState.OPEN:
            return state is not ValueState.BROKEN
        if len(buffer.data) >= WINDOW or not buffer.grow(WINDOW):
            return data.count(b"\n") > 1


def _first_lines(data: bytes) -> tuple[bytes, bytes, bool]:
    """Return the first two lines of `data` that are not blank, and whether both end."""
    # What follows them may be megabytes, and is not copied.
    data = data.lstrip(JSON_SPACE)
    end = data.find(b"\n")
    if end < 0:
        return data, b"", False
    begin = end_of_space(data, end)
    second = data.find(b"\n", begin)
    is_whole = second >= 0
    return data[:end], data[begin : second if is_whole else None], is_whole
