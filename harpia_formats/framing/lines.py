"""Cut a stream of bytes into whole rows, before anything is interpreted."""

import re
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import chain

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.framing.next_value import ValueState, read_value
from harpia_formats.io.reader import BLOCK

#: Levels of arrays and objects in one row, at most.
DEPTH_LIMIT = 200
#: Bytes of one row, at most; a longer one is an error and is passed over.
ROW_LIMIT = 16 * 1024 * 1024
#: Bytes of an array that are cut into rows at once.
WINDOW = 256 * 1024
BOM = b"\xef\xbb\xbf"
JSON_SPACE = b" \t\r\n"
_OPEN, _CLOSE = b"{}"
_next_object = re.compile(rb"\}[ \t\r]*+\n[ \t\r\n]*+(?=\{)")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a file."""

    #: Bytes before it.
    offset: int = 0
    #: Physical line, from 1.
    line: int = 1
    #: Code points before it on its line.
    column: int = 0

    def after(self, data: bytes) -> "Cursor":
        """Return the position behind `data`, which begins here."""
        newlines = data.count(b"\n") if b"\n" in data else 0
        tail = data[data.rfind(b"\n") + 1 :] if newlines else data
        column = code_points(tail) + (0 if newlines else self.column)
        return Cursor(self.offset + len(data), self.line + newlines, column)


class Chunk:
    """Some whole rows with their bytes: lines, items of an array, or one document."""

    __slots__ = ("_count", "_ends", "_known", "_rows", "data", "lines", "start")

    def __init__(
        self, data: bytes, start: Cursor, rows: list[bytes] | None = None
    ) -> None:
        """Take the rows; without them, the lines of `data` are the rows."""
        self.data = data
        self.start = start
        #: Whether the rows are lines, so that row n is line n.
        self.lines = rows is None
        self._rows = rows
        self._ends: list[int] | None = None
        self._count = -1
        #: A row, where in `data` it begins, and where in the file.
        self._known = (0, -1, start)

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        if self._count < 0:
            last = self.data != b"" and not self.data.endswith(b"\n")
            self._count = count_newlines(self.data) + last
        return self._count

    @property
    def rows(self) -> list[bytes]:
        """The rows in order; a blank line is a row too."""
        if self._rows is None:
            # Most chunks of lines are accepted as a whole and never come to this.
            self._rows = self.data.split(b"\n")[: len(self)]
        return self._rows

    @property
    def ends(self) -> list[int]:
        """The places of the newlines, where the rows are lines."""
        if self._ends is None:
            # Most chunks of lines are accepted as a whole and never come to this.
            self._ends = newline_offsets(self.data)
        return self._ends

    def first(self, count: int) -> "Chunk":
        """Return the first `count` rows."""
        if not self.lines:
            return Chunk(self.data, self.start, self.rows[:count])
        if count > len(self.ends):
            return self
        size = self.ends[count - 1] + 1 if count else 0
        return Chunk(self.data[:size], self.start)

    def between(self, begin: int, end: int) -> "Chunk":
        """Return the lines from row `begin` on, before row `end`."""
        ends = self.ends
        first = ends[begin - 1] + 1 if begin else 0
        last = ends[end - 1] + 1 if end <= len(ends) else len(self.data)
        return Chunk(self.data[first:last], self.start_of(begin))

    def start_of(self, number: int) -> Cursor:
        """Return where row `number`, from 0, begins."""
        start = self.start
        if self.lines:
            if number == 0:
                return start
            return Cursor(start.offset + self.ends[number - 1] + 1, start.line + number)
        # Rows are mostly asked for in order, so it is gone on from the last one.
        row, at, cursor = self._known
        if at < 0 or number < row:
            row, at = 0, self.data.index(self.rows[0])
            cursor = start.after(self.data[:at])
        begin = at
        for each in range(row, number):
            at = self.data.index(self.rows[each + 1], at + len(self.rows[each]))
        cursor = cursor.after(self.data[begin:at])
        self._known = (number, at, cursor)
        return cursor

    def is_plain(self) -> bool:
        """Tell whether the rows are lines from brace to brace, with nothing else.

        Then a newline never stands inside a row: no row holds a brace, a newline and
        a brace without a comma between them.
        """
        data = self.data
        if not (self.lines and data.startswith(b"{") and data.endswith((b"}", b"}\n"))):
            return False
        between: int = stringzilla.count(data, b"}\n{")
        return between == len(self) - 1


@dataclass(frozen=True, slots=True)
class FramingFault:
    """Something wrong with the container, outside of any row that can be judged."""

    #: "oversize", "bom", "empty", "spread", "unclosed", "trailing" or "missing-item".
    kind: str
    start: Cursor
    #: Bytes concerned.
    size: int = 1
    #: Whether a record is lost to it.
    record: bool = False


Frames = Iterator[Chunk | FramingFault]


def code_points(data: bytes) -> int:
    """Count the code points of UTF-8 `data`; a broken sequence counts as one."""
    return len(data) if data.isascii() else len(data.decode("utf-8", "replace"))


def is_blank(row: bytes) -> bool:
    """Tell whether `row` holds nothing but JSON white space."""
    return not row.strip(JSON_SPACE)


@dataclass(slots=True)
class ByteBuffer:
    """ReadBlocks to come, and the bytes taken from them but not yet cut."""

    blocks: Iterator[bytes]
    data: bytes = b""

    def fill(self, size: int) -> bool:
        """Take blocks until `data` holds `size` bytes; tell whether it does."""
        parts, have = [self.data], len(self.data)
        while have < size:
            block = next(self.blocks, None)
            if block is None:
                break
            parts.append(block)
            have += len(block)
        if len(parts) > 1:
            self.data = b"".join(parts)
        return have >= size

    def take_lines(self, most: int) -> bytes:
        """Take all lines that end in what is held, or in the next blocks.

        If none ends there, nothing is taken: all that came, or more than `most` bytes
        of it, is held then.
        """
        end = self.data.rfind(b"\n") + 1
        if end:
            taken, self.data = _cut(self.data, end)
            return taken
        parts: list[bytes | memoryview] = [self.data]
        have = len(self.data)
        while have <= most and (block := next(self.blocks, None)) is not None:
            end = block.rfind(b"\n") + 1
            if end:
                # ReadBlocks are large, so each is copied once only.
                self.data = block[end:]
                parts.append(memoryview(block)[:end])
                return b"".join(parts)
            parts.append(block)
            have += len(block)
        if len(parts) > 1:
            self.data = b"".join(parts)
        return b""

    def put_back(self, keep: int) -> None:
        """Hold only `keep` bytes; what is behind them comes again as blocks.

        Whoever cuts off small pieces would copy all the rest each time.
        """
        rest, self.data = self.data[keep:], self.data[:keep]
        pieces = (rest[at : at + BLOCK] for at in range(0, len(rest), BLOCK))
        self.blocks = chain(list(pieces), self.blocks)

    def grow(self, most: int = sys.maxsize) -> bool:
        """Take about as many bytes again as `data` holds; tell whether any came.

        At `most` so many bytes are asked for together.
        """
        had = len(self.data)
        self.fill(max(min(2 * had, most), had + 1))
        return len(self.data) > had


def document_rows(feed: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield the values of `feed`, each of which may be spread over several lines.

    One of them is a document; that there are more is said before the first.
    """
    told = False
    while (place := skip_space(feed, start)) is not None:
        size = _size_of_value(feed, limit)
        if size > limit:
            yield from _oversize(feed, place, size)
            return
        if not told and len(feed.data.rstrip(JSON_SPACE)) > size:
            yield FramingFault("spread", place)
            told = True
        data, feed.data = _cut(feed.data, size)
        row = data.rstrip(JSON_SPACE)
        yield Chunk(row, place, [row])
        start = place.after(data)


def skip_space(feed: ByteBuffer, start: Cursor) -> Cursor | None:
    """Go on to what is not white space; return where that is, None at the end."""
    while feed.data or feed.fill(1):
        rest = feed.data.lstrip(JSON_SPACE)
        start = start.after(feed.data[: len(feed.data) - len(rest)])
        feed.data = rest
        if rest:
            return start
    return None


def _size_of_value(feed: ByteBuffer, limit: int) -> int:
    """Return the bytes of the value that `feed` begins with.

    A broken one ends where another object begins on a line of its own.
    """
    while True:
        state, end = read_value(feed.data, 0)
        if state is ValueState.ENDED and feed.data[end] == _OPEN:
            return end
        if state in {ValueState.ENDED, ValueState.BROKEN}:
            another = _next_object.search(feed.data)
            if another:
                return another.end()
        if len(feed.data) > limit or not feed.grow(limit + 1):
            return len(feed.data)


def _oversize(feed: ByteBuffer, start: Cursor, size: int) -> Frames:
    """Pass over all that is left."""
    feed.data = b""
    size += sum(len(each) for each in feed.blocks)
    yield FramingFault("oversize", start, size, record=True)


def line_rows(feed: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield the lines of `feed`, cut at newline bytes only."""
    while (data := feed.take_lines(limit)) or feed.data:
        if not data and len(feed.data) > limit:
            flaw, start = _pass_over_line(feed, start)
            yield flaw
            continue
        if not data:
            data, feed.data = feed.data, b""
        start = yield from _lines_within(data, start, limit)


def _behind_lines(start: Cursor, size: int, lines: int) -> Cursor:
    return Cursor(start.offset + size, start.line + lines)


def _cut(data: bytes, end: int) -> tuple[bytes, bytes]:
    return (data, b"") if end == len(data) else (data[:end], data[end:])


def _lines_within(
    data: bytes, start: Cursor, limit: int
) -> Generator[Chunk | FramingFault, None, Cursor]:
    """Yield the lines of `data`, without those beyond the limit; return their end."""
    chunk = Chunk(data, start)
    if len(data) <= limit or max(map(len, chunk.rows)) <= limit:
        yield chunk
        return _behind_lines(start, len(data), len(chunk))
    at = 0
    for each in chunk.rows:
        line = data[at : at + len(each) + 1]
        if len(each) > limit:
            yield FramingFault("oversize", start, len(each), record=True)
        else:
            yield Chunk(line, start)
        at += len(line)
        start = _behind_lines(start, len(line), 1)
    return start


def count_newlines(data: bytes) -> int:
    """Return how many newlines there are."""
    count: int = stringzilla.count(data, b"\n")
    return count


def newline_offsets(data: bytes) -> list[int]:
    """Return the places of all newlines; a search is faster than a split."""
    find, ends = data.find, []
    place = find(b"\n")
    while place >= 0:
        ends.append(place)
        place = find(b"\n", place + 1)
    return ends


def _pass_over_line(feed: ByteBuffer, start: Cursor) -> tuple[FramingFault, Cursor]:
    """Skip one line without holding it; return it as a flaw, and the next start."""
    size = 0
    while (end := feed.data.find(b"\n")) < 0:
        size += len(feed.data)
        feed.data = b""
        if not feed.fill(1):
            end = 0
            break
    size += end
    feed.data = feed.data[end + 1 :]
    flaw = FramingFault("oversize", start, size, record=True)
    return flaw, _behind_lines(start, size + 1, 1)
