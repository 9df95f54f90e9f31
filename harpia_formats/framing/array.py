"""Cut a JSON array into rows by verified windows.

A window ends where a row seems to begin. If it decodes as the inside of an array,
everything in it parses, so the cut is right. Where it does not, the parser is sent
through the window row by row: it says where each row ends, and which one is broken
or goes on behind the window. Only the end of a broken row, and of one that is longer
than the limit, is looked for by brackets and quotation marks.
"""

import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

import msgspec

from harpia_formats.framing.lines import (
    JSON_SPACE,
    WINDOW,
    ByteBuffer,
    Chunk,
    Cursor,
    Frames,
    FramingFault,
)
from harpia_formats.framing.next_value import ValueState, error_byte, read_value

#: Places that are tried as the end of a window before it is read row by row.
ATTEMPTS = 2
#: First keys of rows that are remembered, to find the row behind a broken one.
HEADS = 16
#: Whole rows side by side that are surely rows, although one before was broken.
SURE = 16
#: Levels of nesting at which a bracket's kind is remembered.
KINDS = 1024

_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_space = re.compile(rb"[ \t\r\n]*+")
_head = re.compile(rb'\{[ \t\r\n]*+"[^"\\]*+"|["\[{]?')

#: What can be told of a bracket only if more is read.
_is_cut_off = re.compile(rb"[ \t\r\n]*+(?:,[ \t\r\n]*+)?\Z")
#: Rows behind a bracket too many: a comma in an object is followed by a key.
_more_rows = re.compile(rb"[ \t\r\n]*+,[ \t\r\n]*+[\[{]")
#: What may stand behind an array in an object.
_behind_member = re.compile(
    rb'[ \t\r\n]*+(?:\}|\Z|,[ \t\r\n]*+"(?:[^"\\]|\\.)*+"[ \t\r\n]*+:)', re.DOTALL
)
_unbracketed = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,200}')
_between_rows = re.compile(rb'[^"{}\[\],]*+')
_characters = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}', re.DOTALL)
_COMMA, _QUOTE, _LIST = b',"['


def array_rows(feed: ByteBuffer, start: Cursor, limit: int) -> Frames:
    """Yield the items of the array that `feed` begins with, and what is wrong."""
    opening = feed.data.index(b"[")
    cutter = ArrayCutter(feed, start, limit, window=WINDOW)
    cutter.consume(opening)
    return cutter.run()


def member_rows(
    feed: ByteBuffer, start: Cursor, limit: int
) -> Generator[Chunk | FramingFault, None, tuple[Cursor, bool]]:
    """Yield the items of an array inside of an object.

    Return where it ends, and whether it was closed.
    """
    cutter = ArrayCutter(feed, start, limit, window=WINDOW, inner=True)
    yield from cutter.run()
    return cutter.start, cutter.closed


@dataclass(slots=True)
class ArrayCutter:
    """How far an array has been cut into rows."""

    feed: ByteBuffer
    #: Position of the first byte of `feed.data`.
    start: Cursor
    limit: int
    #: Bytes that are to be held before rows are cut.
    window: int
    #: What stood between two rows, with the beginning of the second.
    mark: bytes = b""
    #: Beginnings of rows: a brace and the first key.
    heads: set[bytes] = field(default_factory=set)
    #: Position of the last comma, while no item was seen behind it.
    comma: Cursor | None = None
    #: Whether the blocks are at their end.
    ended: bool = False
    #: Whether a broken row was seen, so that its rest may still be to come.
    doubtful: bool = False
    #: Whether the file ends inside of a row, whose own fault says so.
    torn: bool = False
    #: Whether the array is a member of an object, which goes on behind it.
    inner: bool = False
    #: Whether the end of the array was seen.
    closed: bool = False

    def run(self) -> Frames:
        """Yield rows and flaws until the array and the file end."""
        opening, found = self.start, False
        self.consume(1)
        while not self._at_end():
            if self.feed.data[:1] == b",":
                yield FramingFault("missing-item", self.start)
                self.consume(1)
                self.comma, found = None, True
                continue
            for each in self._rows():
                yield each
                found = True
        if self.feed.data and not found and not self.inner:
            yield FramingFault("empty", opening)
        yield from self._close()

    def consume(self, size: int) -> bytes:
        """Take the next `size` bytes off the feed."""
        data = self.feed.data[:size]
        self.feed.data = self.feed.data[size:]
        self.start = self.start.after(data)
        return data

    def _at_end(self) -> bool:
        """Go on to what is next in the array; tell whether that is its end."""
        while True:
            self.ended = not self.feed.fill(self.window)
            if space := _behind_space(self.feed.data, 0):
                self.consume(space)
            if self.feed.data or self.ended:
                return not self.feed.data or self._is_closing()

    def _is_closing(self) -> bool:
        """Tell whether the array ends here, and not one inside of a broken row."""
        if self.feed.data[:1] != b"]":
            return False
        if not (self.doubtful or self.inner):
            return True
        while _is_cut_off.match(self.feed.data, 1):
            if not self.feed.grow():
                return True
        if not self.doubtful:
            return not _more_rows.match(self.feed.data, 1)
        return _is_last_bracket(self.feed.data, 0, inner=self.inner)

    def _close(self) -> Frames:
        """Say what is wrong at the end of the array, and behind it."""
        if not self.feed.data:
            if not self.torn:
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
        if self.feed.data:
            behind = sum(len(each) for each in self.feed.blocks)
            yield FramingFault("trailing", self.start, len(self.feed.data) + behind)

    def _rows(self) -> Frames:
        """Yield the rows that can be cut from what is held, or a single one."""
        end, rows = self._verified_window() or self._whole_rows()
        if not rows:
            yield from self._lone_row()
            return
        if not self.heads or (self.doubtful and len(rows) >= SURE):
            self._note_heads(rows)
        start = self.start
        yield Chunk(self.consume(end), start, rows)
        self._next()

    def _note_heads(self, rows: Iterable[bytes]) -> None:
        """Note what `rows` begin with."""
        for each in rows:
            head = _head_of(each)
            if len(head) > 1 and len(self.heads) < HEADS:
                self.heads.add(head)

    def _next(self) -> None:
        """Take the comma behind a row, if there is one."""
        self.window = WINDOW
        self.comma = None
        space = _behind_space(self.feed.data, 0)
        if self.feed.data[space : space + 1] == b",":
            self.consume(space)
            self.comma = self.start
            self.consume(1)

    def _verified_window(self) -> tuple[int, list[bytes]] | None:
        """Return the end of the last row before a mark, and all rows up to it."""
        data = self.feed.data
        end = len(data)
        for _ in range(ATTEMPTS):
            end = data.rfind(self.mark, 0, end) if self.mark else -1
            if end < 1:
                return None
            try:
                rows = _items(b"".join((b"[", memoryview(data)[:end], b"]")))
            except msgspec.DecodeError as error:
                # The bracket that was put before the window counts as a byte.
                end = min(end, error_byte(str(error)) - 1)
            except RecursionError:
                return None
            else:
                texts = [bytes(each) for each in rows]
                return (end, texts) if self._fits(texts, end) else None
        return None

    def _fits(self, rows: Iterable[bytes], size: int) -> bool:
        """Tell whether all `rows`, of `size` bytes together, are within the limit."""
        return size <= self.limit or all(len(each) <= self.limit for each in rows)

    def _whole_rows(self) -> tuple[int, list[bytes]]:
        """Return the whole rows that are held first, and where the last one ends."""
        data = self.feed.data
        rows: list[bytes] = []
        end = at = 0
        while data[at : at + 1] not in {b"", b",", b"]"}:
            state, place = _read(data, at)
            text = (
                data[at:place].rstrip(JSON_SPACE) if state is ValueState.ENDED else b""
            )
            if not text or len(text) > self.limit:
                break
            if rows:
                self.mark = data[end:at] + _head_of(text)
            rows.append(text)
            end = at + len(text)
            at = place
            if data[place] == _COMMA:
                at = _behind_space(data, place + 1)
        return end, rows

    def _lone_row(self) -> Frames:
        """Yield the first row, which cannot be cut off with others, or read on."""
        data = self.feed.data
        state, end = _read(data, 0)
        if state is ValueState.BROKEN:
            self.doubtful = True
            end = _end_of_broken(data, self.heads, inner=self.inner)
        if state in {ValueState.ENDED, ValueState.BROKEN} and 0 < end < len(data):
            yield self._single_row(end)
            self._next()
        elif self.ended:
            yield self._last_row(state)
        elif len(data) < self.limit + WINDOW:
            self.window = min(2 * len(data), self.limit + WINDOW)
        else:
            yield self._pass_over_row()

    def _last_row(self, state: ValueState) -> Chunk | FramingFault:
        """Cut off a row that the file ends in."""
        text = self.feed.data.rstrip(JSON_SPACE)
        if state is ValueState.BROKEN and len(text) > 1:
            text = text.removesuffix(b"]")
        self.torn = state is ValueState.OPEN
        row = self._single_row(len(text))
        if self.torn:
            self.consume(len(self.feed.data))
        self.comma = None
        return row

    def _single_row(self, end: int) -> Chunk | FramingFault:
        """Cut off the next row, which ends before `end`."""
        start = self.start
        row = self.consume(end).rstrip(JSON_SPACE)
        if len(row) > self.limit:
            return FramingFault("oversize", start, len(row), record=True)
        return Chunk(row, start, [row])

    def _pass_over_row(self) -> FramingFault:
        """Skip a row that is longer than the limit, without holding it."""
        start, size, row = self.start, 0, RowEndFinder(inner=self.inner)
        while (end := row.find(self.feed.data, len(self.feed.data))) is None:
            passed = len(self.consume(_end_of_characters(self.feed.data, row.at)))
            size += passed
            row.at -= passed
            if not self.feed.fill(len(self.feed.data) + 1):
                self.torn, end = True, len(self.feed.data)
                break
        size += len(self.consume(end).rstrip(JSON_SPACE))
        self._next()
        return FramingFault("oversize", start, size, record=True)


@dataclass(slots=True)
class RowEndFinder:
    """Looks for the end of a row by brackets and quotation marks, piece by piece."""

    #: Whether the array is a member of an object.
    inner: bool = False
    #: Where to read on.
    at: int = 0
    depth: int = 0
    #: Whether a string is open.
    quoted: bool = False
    #: Arrays and objects that began without a comma between them.
    values: int = 0
    kinds: bytearray = field(default_factory=lambda: bytearray(KINDS))

    def find(self, data: bytes, until: int) -> int | None:
        """Read on up to `until`; return where the row ends if that is before it."""
        while self.at < until:
            if self.quoted:
                if not self._read_string(data, until):
                    return None
                continue
            pattern = _unbracketed if self.depth else _between_rows
            self.at = _end_of(pattern, data, self.at, until)
            if self.at < until:
                if self._is_end(data):
                    return self.at
                self.at += 1
        return None

    @property
    def in_list(self) -> bool:
        """Whether the innermost open bracket is that of an array."""
        return self.depth > 0 and self.kinds[min(self.depth, KINDS) - 1] == _LIST

    def _read_string(self, data: bytes, until: int) -> bool:
        """Read on in a string; tell whether that was possible."""
        had = self.at
        self.at = _end_of(_characters, data, had, until)
        if self.at < until and data[self.at] == _QUOTE:
            self.at += 1
            self.quoted = False
        return self.at > had

    def _is_end(self, data: bytes) -> bool:
        """Take note of the byte that was reached; tell whether it ends the row."""
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
            return byte == _COMMA or _is_last_bracket(data, self.at, inner=self.inner)
        # Where commas are missing, a row is handed on with the one that follows it.
        return self.values > 2  # noqa: PLR2004 - a row and the one behind it


def _read(data: bytes, at: int) -> tuple[ValueState, int]:
    """Return what the parser says about the row at `at`, and where it stopped.

    A row that is followed by neither a comma nor the end of the array is broken.
    """
    state, place = read_value(data, at)
    if state is ValueState.ENDED and data[place] not in b",]":
        state = ValueState.BROKEN
    return state, place


def _end_of_broken(data: bytes, heads: Iterable[bytes], *, inner: bool) -> int:
    """Return where the broken row ends that `data` begins with, its length if nowhere.

    A row has ended where its brackets say so, and where another row begins although
    a string or an object is still open.
    """
    row = RowEndFinder(inner=inner)
    for each in _next_row(data, heads).finditer(data):
        end = row.find(data, each.start())
        if end is not None:
            return end
        if row.quoted or (row.depth and not row.in_list):
            return each.start()
    end = row.find(data, len(data))
    return len(data) if end is None else end


def _next_row(data: bytes, heads: Iterable[bytes]) -> re.Pattern[bytes]:
    """Return a pattern for a comma and the beginning of a row, as `data` has one."""
    own = _head_of(data)
    known = {*heads, own} if len(own) > 1 else heads
    choice = b"|".join(re.escape(each) for each in sorted(known))
    return re.compile(rb",[ \t\r\n]*+(?:%b)" % (choice or rb'\{[ \t\r\n]*+"'))


def _head_of(row: bytes) -> bytes:
    """Return how `row` begins: with a brace and a key, a bracket, or a quotation mark.

    It is empty for a number or a word.
    """
    return row[: _end_of(_head, row, 0, len(row))]


def _is_last_bracket(data: bytes, at: int, *, inner: bool) -> bool:
    """Tell whether the bracket at `at` may be the last, by what is behind it.

    In or behind a broken row, a bracket too many is not yet the end of the array.
    """
    if inner:
        return _behind_member.match(data, at + 1) is not None
    behind = _behind_space(data, at + 1)
    return data[behind : behind + 1] not in {b",", b"]", b"}"}


def _end_of_characters(data: bytes, end: int) -> int:
    """Return the last place up to `end` that is not inside of a UTF-8 character."""
    for each in range(end - 1, max(end - 4, -1), -1):
        if data[each] < 0x80:  # noqa: PLR2004 - the end of ASCII
            break
        if data[each] >= 0xC0:  # noqa: PLR2004 - the first byte of several
            return each
    return end


def _behind_space(data: bytes, at: int) -> int:
    return _end_of(_space, data, at, len(data))


def _end_of(pattern: re.Pattern[bytes], data: bytes, at: int, until: int) -> int:
    """Return where the match of `pattern` at `at` ends, `at` if there is none."""
    found = pattern.match(data, at, until)
    return found.end() if found else at
