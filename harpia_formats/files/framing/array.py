"""Cut a JSON array into rows by verified windows.

A window ends where a row seems to begin. If it decodes as the inside of an array,
everything in it parses, so the cut is right. If it does not decode, the parser reads
the window row by row: it finds where each row ends, and which one is broken or goes on
behind the window. Only the end of a broken row, and of one that is longer than the
limit, is found by brackets and quotation marks (`row_end`).
"""

import re
import sys
from collections.abc import Generator
from dataclasses import dataclass, field

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.byte_buffer import ByteBuffer
from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    Frame,
    Frames,
    FramingFault,
)
from harpia_formats.files.framing.limits import WINDOW
from harpia_formats.files.framing.next_value import ValueState
from harpia_formats.files.framing.row_end import (
    RowEndFinder,
    end_of_broken_row,
    end_of_characters,
    end_of_space,
    is_last_bracket,
    start_of_row,
)
from harpia_formats.files.framing.whole_rows import (
    read_row,
    rows_one_by_one,
    verified_rows,
)

#: Beginnings of rows that are remembered, to find the row behind a broken one.
STARTS = 16
#: Whole rows side by side that are certainly rows, although one before was broken.
SURE = 16
#: Arrays of an object that are cut by windows of the full size, and the part of it that
#: the smallest windows have.
FULL_WINDOWS, SMALLEST = 16, 16
#: The part of a window that the first chunk of rows has.
BEGINNING = 32
#: Rows that are read one by one to learn what stands between rows.
FIRST = 2

#: What an object with members begins with.
_object_starts = (b'{"', b"{ ", b"{\t", b"{\r", b"{\n")
#: More bytes must be read to know what a bracket closes.
_is_cut_off = re.compile(rb"[ \t\r\n]*+(?:,[ \t\r\n]*+)?\Z")
#: Rows behind a bracket too many: a comma in an object is followed by a key.
_more_rows = re.compile(rb"[ \t\r\n]*+,[ \t\r\n]*+[\[{]")


def array_rows(buffer: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield the items of the array that `buffer` begins with, and its faults.

    `start` is where `buffer` begins in the file; an item of more than `limit` bytes is
    a fault.
    """
    opening = buffer.data.index(b"[")
    cutter = ArrayCutter(buffer, start, limit, WINDOW)
    cutter.consume(opening)
    return cutter.run()


def member_rows(
    buffer: ByteBuffer, start: Cursor, limit: int, before: int = 0
) -> Generator[Frame, None, tuple[Cursor, bool]]:
    """Yield the items of an array that is a member of an object, as `array_rows` does.

    `before` is the number of such arrays before it. Return where the array ends, and
    whether it was closed.
    """
    # A reader may hold a window of each column, so those of many columns are smaller.
    window = WINDOW // min(1 + before // FULL_WINDOWS, SMALLEST)
    cutter = ArrayCutter(buffer, start, limit, window, inner=True)
    yield from cutter.run()
    return cutter.start, cutter.closed


@dataclass(slots=True)
class ArrayCutter:
    """Cuts an array into rows, and holds how far it was cut."""

    buffer: ByteBuffer
    #: Position of the first byte of `buffer.data`.
    start: Cursor
    #: Bytes of one row, at most.
    limit: int
    #: Bytes that are to be read before rows are cut, unless a row is longer.
    usual: int
    #: Bytes that are to be read next.
    window: int = field(init=False)
    #: Bytes of the next chunk, at most, unless a row is longer.
    most: int = field(init=False)
    #: What stood between two rows, with the beginning of the second.
    separator: bytes = b""
    #: Beginnings of rows: a brace and the first key.
    starts: set[bytes] = field(default_factory=set)
    #: Where in the file the bytes end that were read for the first row.
    read_first: int = 0
    #: Position of the last comma, while no item was seen behind it.
    comma: Cursor | None = None
    #: Whether all blocks were read.
    ended: bool = False
    #: Whether a broken row was seen, so that its rest may still be to come.
    doubtful: bool = False
    #: Whether the file ends inside of a row, whose own fault reports that.
    truncated: bool = False
    #: Whether the array is a member of an object, which goes on behind it.
    inner: bool = False
    #: Whether the end of the array was seen.
    closed: bool = False

    def __post_init__(self) -> None:
        self.window = self.usual
        self.most = max(1, self.usual // BEGINNING)

    def run(self) -> Frames:
        """Yield rows and faults until the array and the file end."""
        opening, found = self.start, False
        self.consume(1)
        while not self._at_end():
            if self.buffer.data[:1] == b",":
                yield FramingFault("missing-item", self.start)
                self.consume(1)
                self.comma, found = None, True
                continue
            for frame in self._next_rows():
                yield frame
                found = True
        if self.buffer.data and not found and not self.inner:
            yield FramingFault("empty", opening)
        yield from self._close()

    def consume(self, size: int) -> bytes:
        """Remove the next `size` bytes from the buffer and return them."""
        data = self.buffer.take(size)
        self.start = self.start.after(data)
        return data

    def _at_end(self) -> bool:
        """Skip white space; tell whether the array or the file ends there."""
        while True:
            self.ended = not self.buffer.fill(self.window)
            if space := end_of_space(self.buffer.data, 0):
                self.consume(space)
            if self.buffer.data or self.ended:
                return not self.buffer.data or self._is_closing()

    def _is_closing(self) -> bool:
        """Tell whether the array ends here, and not one inside of a broken row."""
        if self.buffer.data[:1] != b"]":
            return False
        if not (self.doubtful or self.inner):
            return True
        while _is_cut_off.match(self.buffer.data, 1):
            if not self.buffer.grow():
                return True
        if not self.doubtful:
            return not _more_rows.match(self.buffer.data, 1)
        return is_last_bracket(self.buffer.data, 0, inner=self.inner)

    def _close(self) -> Frames:
        """Yield the faults at the end of the array, and behind it."""
        if not self.buffer.data:
            if not self.truncated:
                yield FramingFault("unclosed", self.start)
            return
        if self.comma is not None:
            yield FramingFault("missing-item", self.comma)
        self.consume(1)
        self.closed = True
        if self.inner:
            return
        self.window = 1
        self._at_end()
        if self.buffer.data:
            size = len(self.buffer.data) + sum(map(len, self.buffer.blocks))
            yield FramingFault("trailing", self.start, size)

    def _next_rows(self) -> Frames:
        """Yield a chunk of the rows that are read whole, or one row or its fault."""
        chunk = self._whole_rows()
        if chunk is None:
            yield from self._lone_row()
            return
        at = self.start.offset
        self.read_first = self.read_first or at + len(self.buffer.data)
        is_first = at < self.read_first
        if not self.starts or is_first or (self.doubtful and len(chunk) >= SURE):
            self._remember_starts(chunk)
        self.buffer.take(len(chunk.data))
        yield chunk
        # Whoever decoded the rows may have noted that they are UTF-8.
        self.start = chunk.end
        self._skip_comma()

    def _remember_starts(self, chunk: Chunk) -> None:
        """Keep the beginnings of the rows of `chunk`, up to `STARTS`."""
        # Searching is faster than cutting, and few texts have this inside.
        data = chunk.data
        if all(stringzilla.find(data, start) < 0 for start in _object_starts):
            return
        for row in chunk.rows:
            start = start_of_row(row)
            if len(start) > 1 and len(self.starts) < STARTS:
                self.starts.add(start)

    def _skip_comma(self) -> None:
        """Remove the comma behind a row, if there is one."""
        self.window = self.usual
        self.comma = None
        space = end_of_space(self.buffer.data, 0)
        if self.buffer.data[space : space + 1] == b",":
            self.consume(space)
            self.comma = self.start
            self.consume(1)

    def _whole_rows(self) -> Chunk | None:
        """Return whole rows at the beginning of the buffer, None if there are none.

        They are few as long as it is not known what stands between rows.
        """
        data, chunk = self.buffer.data, None
        if self.separator:
            is_small = data.find(self.separator, 1, self.most) > 0
            end = min(len(data), self.most) if is_small else len(data)
            # Small chunks come first: a reader reads what it learns from row by row.
            self.most = min(self.most + self.most // 2 + 1, self.usual)
            chunk = verified_rows(data, end, self.separator, self.start, self.limit)
        if chunk is not None:
            return chunk
        most = sys.maxsize if self.separator else FIRST
        rows, end, separator = rows_one_by_one(data, most, self.limit)
        self.separator = separator or self.separator
        return Chunk(data[:end], self.start, rows) if rows else None

    def _lone_row(self) -> Frames:
        """Yield the first row if it ends in the buffer or is too long, or read on."""
        data = self.buffer.data
        state, end = read_row(data, 0)
        if state is ValueState.BROKEN:
            self.doubtful = True
            end = end_of_broken_row(data, self.starts, inner=self.inner)
        if state in {ValueState.ENDED, ValueState.BROKEN} and 0 < end < len(data):
            yield self._single_row(end)
            self._skip_comma()
        elif self.ended:
            yield self._last_row(state)
        elif len(data) < self.limit + self.usual:
            self.window = min(2 * len(data), self.limit + self.usual)
        else:
            yield self._skip_long_row()

    def _last_row(self, state: ValueState) -> Frame:
        """Return the row that the file ends in."""
        text = self.buffer.data.rstrip(JSON_SPACE)
        if state is ValueState.BROKEN and len(text) > 1:
            text = text.removesuffix(b"]")
        self.truncated = state is ValueState.OPEN
        row = self._single_row(len(text))
        if self.truncated:
            self.consume(len(self.buffer.data))
        self.comma = None
        return row

    def _single_row(self, end: int) -> Frame:
        """Return the row in the next `end` bytes, a fault if it is over the limit."""
        start = self.start
        row = self.consume(end).rstrip(JSON_SPACE)
        if len(row) > self.limit:
            return FramingFault("oversize", start, len(row), record=True)
        return Chunk(row, start, [row])

    def _skip_long_row(self) -> FramingFault:
        """Skip a row that is longer than the limit, without holding it."""
        start, size, row = self.start, 0, RowEndFinder(inner=self.inner)
        while (end := row.find(self.buffer.data, len(self.buffer.data))) is None:
            skipped = len(self.consume(end_of_characters(self.buffer.data, row.at)))
            size += skipped
            row.at -= skipped
            if not self.buffer.fill(len(self.buffer.data) + 1):
                self.truncated, end = True, len(self.buffer.data)
                break
        size += len(self.consume(end).rstrip(JSON_SPACE))
        self._skip_comma()
        return FramingFault("oversize", start, size, record=True)
