"""Cut a JSON array into rows by verified windows."""

import re
import sys
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    Frame,
    Frames,
    FramingFault,
    items_with_constants,
    may_have_constants,
)
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    ValueState,
    end_of_space,
    error_byte,
    read_value,
)
from harpia_formats.files.io.reader import WINDOW

#: Bytes in which the end of a broken row is looked for first.
NEAR = 1024
#: Levels of nesting for which the kind of the open bracket is kept.
KINDS = 1024

_row_start = re.compile(rb'\{[ \t\r\n]*+"[^"\\]*+"|["\[{]?')
#: What may follow an array that is a member of an object.
_after_member = re.compile(
    rb'[ \t\r\n]*+(?:\}|\Z|,[ \t\r\n]*+"(?:[^"\\]|\\.)*+"[ \t\r\n]*+:)', re.DOTALL
)
# One match has few rounds, since the engine keeps every round of a group in memory.
_unbracketed = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,200}')
_between_rows = re.compile(rb'[^"{}\[\],]*+')
_characters = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}', re.DOTALL)
_COMMA, _QUOTE, _BRACKET = b',"['


@dataclass(slots=True)
class RowEndFinder:
    """Finds the end of a row by brackets and quotation marks, piece by piece."""

    #: Whether the array is a member of an object.
    inner: bool
    #: The offset to continue from.
    at: int = 0
    #: How many brackets are open.
    depth: int = 0
    #: Whether a string is open.
    quoted: bool = False
    #: Arrays and objects that began without a comma between them.
    values: int = 0
    #: The open brackets, outermost first.
    kinds: bytearray = field(default_factory=lambda: bytearray(KINDS))

    def find(self, data: bytes, until: int) -> int | None:
        """Read on up to offset `until`; return the row's end if it is before that."""
        while self.at < until:
            if self.quoted:
                if not self._read_string(data, until):
                    return None
                continue
            pattern = _unbracketed if self.depth else _between_rows
            self.at = _match_end(pattern, data, self.at, until)
            if self.at < until:
                if self._is_end(data):
                    return self.at
                self.at += 1
        return None

    @property
    def in_list(self) -> bool:
        """Whether the innermost open bracket is that of an array."""
        return self.depth > 0 and self.kinds[min(self.depth, KINDS) - 1] == _BRACKET

    def _read_string(self, data: bytes, until: int) -> bool:
        """Read on in the open string; tell whether any byte could be read."""
        before = self.at
        self.at = _match_end(_characters, data, before, until)
        if self.at < until and data[self.at] == _QUOTE:
            self.at += 1
            self.quoted = False
        return self.at > before

    def _is_end(self, data: bytes) -> bool:
        """Count the bracket or quotation mark reached; tell whether the row ends."""
        byte = data[self.at]
        if byte == _QUOTE:
            self.quoted = True
        elif byte in b"{[":
            self.values += self.depth == 0
            self.kinds[min(self.depth, KINDS - 1)] = byte
            self.depth += 1
        elif self.depth:
            self.depth -= 1
        elif byte in b",]":
            return byte == _COMMA or is_last_bracket(data, self.at, inner=self.inner)
        # Where a comma is missing, two rows are taken for one.
        return self.values > 2  # noqa: PLR2004 - a row and the one behind it


def end_of_broken_row(data: bytes, starts: Iterable[bytes], *, inner: bool) -> int:
    """Return where the broken row that `data` begins with ends, `len(data)` if nowhere.

    It ends where its brackets are closed, or where another row begins although a
    string or an object is still open. `starts` are beginnings of other rows, `inner`
    tells that the array is a member of an object.
    """
    row = RowEndFinder(inner=inner)
    for place, begins_row in _places_ahead(data, _starts_of_rows(data, starts)):
        end = row.find(data, place)
        if end is not None:
            return end
        if begins_row and (row.quoted or (row.depth and not row.in_list)):
            return place
    return len(data)


def _places_ahead(data: bytes, starts: list[bytes]) -> Iterator[tuple[int, bool]]:
    """Yield places up to the end of `data`, and whether a row of `starts` begins there.

    There are others between these, so that who stops at one has not searched much more.
    """
    next_row = re.compile(rb",[ \t\r\n]*+(?:%b)" % b"|".join(starts))
    longest = max(map(len, starts))
    begin, border = 0, NEAR
    while begin < len(data):
        # What begins before the border may end behind it.
        end = end_of_space(data, end_of_space(data, border) + longest) + 1
        for found in next_row.finditer(data, begin, end):
            if found.start() >= border:
                break
            yield found.start(), True
            begin = found.end()
        yield min(border, len(data)), False
        begin, border = max(begin, border), 2 * border


def _starts_of_rows(data: bytes, starts: Iterable[bytes]) -> list[bytes]:
    """Return expressions for beginnings like those of `data` or of rows in `starts`."""
    own = start_of_row(data)
    known = {*starts, own} if len(own) > 1 else starts
    return [*map(re.escape, sorted(known))] or [rb'\{[ \t\r\n]*+"']


def start_of_row(row: bytes) -> bytes:
    """Return what `row` begins with: `{` and its first key, `[`, `"`, or nothing."""
    return row[: _match_end(_row_start, row, 0, len(row))]


def is_last_bracket(data: bytes, at: int, *, inner: bool) -> bool:
    """Tell by what follows whether the `]` at `at` may be the end of the array.

    In or behind a broken row there may be a bracket too many before the array ends.
    """
    if inner:
        return _after_member.match(data, at + 1) is not None
    after = end_of_space(data, at + 1)
    return data[after : after + 1] not in {b",", b"]", b"}"}


def end_of_characters(data: bytes, end: int) -> int:
    """Return an offset up to `end` that is not inside of a UTF-8 character."""
    for at in range(end - 1, max(end - 4, -1), -1):
        if data[at] < 0x80:  # noqa: PLR2004 - the end of ASCII
            break
        if data[at] >= 0xC0:  # noqa: PLR2004 - the first byte of several
            return at
    return end


def _match_end(pattern: re.Pattern[bytes], data: bytes, at: int, until: int) -> int:
    """Return where the match of `pattern` at `at` ends, `at` if there is none."""
    found = pattern.match(data, at, until)
    return found.end() if found else at


#: Offsets that are tried as the end of a window before it is read row by row.
ATTEMPTS = 2

_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_COMMA_BYTE = ord(",")


def verified_rows(
    data: bytes, end: int, separator: bytes, start: Cursor, limit: int
) -> Chunk | None:
    """Return the rows up to the last separator before `end` that can be verified.

    `start` is where `data` begins in the file. None if nothing decodes, or a row has
    more than `limit` bytes.
    """
    for _ in range(ATTEMPTS):
        end = data.rfind(separator, 0, end)
        if end < 1:
            return None
        text = data[:end]
        try:
            items = _decode_items(b"".join((b"[", text, b"]")))
        except msgspec.DecodeError as error:
            if (rows := _rows_with_constants(text)) is not None:
                fits = end <= limit or max(map(len, rows)) <= limit
                return Chunk(text, start, rows) if fits else None
            # The bracket that was put before the window counts as a byte.
            end = min(end, error_byte(str(error)) - 1)
        except RecursionError:
            return None
        else:
            chunk = Chunk(text, start, items=len(items))
            fits = end <= limit or max(map(len, chunk.rows)) <= limit
            return chunk if fits else None
    return None


def _rows_with_constants(text: bytes) -> list[bytes] | None:
    """Return the rows in the inside of an array if its only faults are constants."""
    if not may_have_constants(text):
        return None
    try:
        return items_with_constants(b"".join((b"[", text, b"]")))
    except (msgspec.DecodeError, RecursionError):
        return None


def rows_one_by_one(
    data: bytes, most: int, limit: int
) -> tuple[list[bytes], int, bytes]:
    """Return the first whole rows, where they end, and what stands between the last.

    They are at most `most`, of at most `limit` bytes each. Between two rows stands a
    separator with the beginning of the second one; it is empty if there are not two.
    """
    rows: list[bytes] = []
    separator = b""
    end = at = 0
    while len(rows) < most:
        state, place = read_row(data, at)
        is_whole = state is ValueState.ENDED
        row = data[at:place].rstrip(JSON_SPACE) if is_whole else b""
        if not row or len(row) > limit:
            break
        if rows:
            separator = data[end:at] + start_of_row(row)
        rows.append(row)
        end = at + len(row)
        at = place
        if data[place] == _COMMA_BYTE:
            at = end_of_space(data, place + 1)
    return rows, end, separator


def read_row(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return the state of the row at `at`, and where the parser stopped.

    A row that is followed by neither a comma nor the end of the array is broken.
    """
    state, place = read_value(data, at)
    if state is ValueState.ENDED and data[place] not in b",]":
        state = ValueState.BROKEN
    return state, place


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
        if state is ValueState.BROKEN:
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
