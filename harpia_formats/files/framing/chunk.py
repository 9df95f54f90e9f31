"""Rows with their bytes and places, as framing cuts them from a file."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct


@cache
def _constant() -> re.Pattern[bytes]:
    """Return the expression for what may be a constant, compiled when it is needed.

    It begins with letters, which are found many times as fast as by what stands before.
    """
    return re.compile(
        rb"NaN(?<![\w.+\"-]NaN)(?![\w.+\"-])"
        rb"|Infinity(?<![\w.+\"]Infinity)(?<![\w.+\"-]-Infinity)(?![\w.+\"-])"
    )


def may_have_constants(data: bytes) -> bool:
    """Tell whether a text may have a constant: whether it has these letters at all."""
    words = (b"NaN", b"Infinity")
    return any(stringzilla.find(data, word) >= 0 for word in words)


def constants_in(text: bytes) -> list[tuple[int, int]]:
    """Return where each constant outside of strings begins and ends in a JSON text."""
    found = []
    at, is_inside = 0, False
    for match in _constant().finditer(text):
        # What is outside of strings depends on the number of quotation marks.
        part = text[at : match.start()]
        if b"\\" in part:
            part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        is_inside ^= bool(part.count(b'"') & 1)
        at = match.start()
        if not is_inside:
            start, end = match.span()
            has_sign = text[start - 1 : start] == b"-"
            found.append((start - has_sign, end))
    return found


def masked(text: bytes) -> bytes:
    """Return a JSON text with a number of the same length for each constant.

    Rows are cut of it, and its faults have the places that they have in `text`.
    """
    return _replaced(text, lambda size: b"0." + b"0" * (size - 2))


def with_nulls(text: bytes) -> bytes:
    """Return a JSON text with null for each constant."""
    return _replaced(text, lambda _: b"null")


def _replaced(text: bytes, value_of: Callable[[int], bytes]) -> bytes:
    """Return `text` with other values for its constants, given the length of each."""
    if not may_have_constants(text):
        return text
    parts: list[bytes] = []
    at = 0
    for start, end in constants_in(text):
        parts += (text[at:start], value_of(end - start))
        at = end
    return b"".join((*parts, text[at:]))


BOM = b"\xef\xbb\xbf"
JSON_SPACE = b" \t\r\n"
_BETWEEN = frozenset(JSON_SPACE + b",")

_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Cursor(Struct, frozen=True):
    """A position in a file."""

    #: Bytes before it.
    offset: int = 0
    #: Physical line, from 1.
    line: int = 1
    #: Code points before it on its line.
    column: int = 0

    def after(self, data: bytes, *, is_utf8: bool = False) -> "Cursor":
        """Return the position behind `data`, which begins here.

        `is_utf8` tells that `data` is known to be valid UTF-8.
        """
        newlines = count_newlines(data)
        tail = data[data.rfind(b"\n") + 1 :] if newlines else data
        # Bytes are counted without decoding them, which only errors need.
        points: int = stringzilla.utf8_count(tail) if is_utf8 else code_points(tail)
        column = points + (0 if newlines else self.column)
        return Cursor(self.offset + len(data), self.line + newlines, column)


class Chunk:
    """Some whole rows with their bytes: lines, items of an array, or one document."""

    __slots__ = (
        "_count",
        "_ends",
        "_known",
        "_rows",
        "data",
        "is_array",
        "is_utf8",
        "lines",
        "start",
    )

    def __init__(
        self,
        data: bytes,
        start: Cursor,
        rows: list[bytes] | None = None,
        items: int | None = None,
    ) -> None:
        """Hold `rows`, which are in `data` in this order.

        `start` is where `data` begins in the file. With `items`, `data` is the inside
        of an array of so many items, which are the rows. With neither, each line of
        `data` is a row.
        """
        self.data = data
        self.start = start
        #: Whether the rows are lines, so that row n is line n.
        self.lines = rows is None and items is None
        #: Whether `data` is known to be valid UTF-8.
        self.is_utf8 = False
        #: Whether `data` is known to be the inside of an array, whose items are rows.
        self.is_array = items is not None
        self._rows = rows
        self._ends: list[int] | None = None
        self._count: int | None = None
        if not self.lines:
            self._count = len(rows) if rows is not None else items or 0
        #: The row whose place was computed last, where it begins in `data`, and where
        #: it begins in the file.
        self._known = (0, -1, start)

    def __len__(self) -> int:
        if self._count is None:
            last = self.data != b"" and not self.data.endswith(b"\n")
            self._count = count_newlines(self.data) + last
        return self._count

    @property
    def rows(self) -> list[bytes]:
        """The bytes of each row in order; a blank line is a row, too.

        Raises `ValueError` if `data` is the inside of an array of more or fewer items.
        """
        if self._rows is None:
            # Computed late: most chunks are accepted as a whole.
            if self.lines:
                self._rows = self.data.split(b"\n")[: len(self)]
            else:
                self._rows = _items_in(self.data)
            if len(self._rows) != len(self):
                raise ValueError("rows are not cut as they were before")
        return self._rows

    @property
    def in_file(self) -> "Chunk":
        """The rows as they are in the file."""
        return self

    @property
    def texts(self) -> list[bytes]:
        """The bytes of each row as they are in the file."""
        return self.in_file.rows

    @property
    def ends(self) -> list[int]:
        """The offset in `data` of each newline, where the rows are lines."""
        if self._ends is None:
            # Computed late: most chunks of lines are accepted as a whole.
            self._ends = newline_offsets(self.data)
        return self._ends

    def first(self, count: int) -> "Chunk":
        """Return a chunk of the first `count` rows."""
        if not self.lines:
            return Chunk(self.data, self.start, self.rows[:count])
        if count > len(self.ends):
            return self
        size = self.ends[count - 1] + 1 if count else 0
        return Chunk(self.data[:size], self.start)

    def between(self, begin: int, end: int) -> "Chunk":
        """Return a chunk of the rows from row `begin` up to, not including, `end`."""
        if not self.lines:
            start, rows = self.start_of(begin), self.rows[begin:end]
            offset = self._offset_of(begin)
            after_last = self._offset_of(end - 1) + len(rows[-1])
            return Chunk(self.data[offset:after_last], start, rows)
        ends = self.ends
        first = ends[begin - 1] + 1 if begin else 0
        last = ends[end - 1] + 1 if end <= len(ends) else len(self.data)
        return Chunk(self.data[first:last], self.start_of(begin))

    def start_of(self, number: int) -> Cursor:
        """Return where in the file row `number`, from 0, begins."""
        start = self.start
        if self.lines:
            if number == 0:
                return start
            return Cursor(start.offset + self.ends[number - 1] + 1, start.line + number)
        self._offset_of(number)
        return self._known[2]

    @property
    def end(self) -> Cursor:
        """Where in the file `data` ends."""
        return self.start.after(self.data, is_utf8=self.is_utf8)

    def _offset_of(self, number: int) -> int:
        """Return the offset in `data` of row `number`, where the rows are no lines."""
        rows = self.rows
        # Rows are mostly asked for in order, so the search continues from the last one.
        row, at, cursor = self._known
        if at < 0 or number < row:
            row, at = 0, self.data.index(rows[0])
            cursor = self.start.after(self.data[:at])
        begin = at
        for passed in range(row, number):
            at = _next_row(self.data, at + len(rows[passed]), rows[passed + 1])
        cursor = cursor.after(self.data[begin:at])
        self._known = (number, at, cursor)
        return at

    def is_plain(self) -> bool:
        """Tell whether each row is one line from `{` to `}` with nothing around it.

        Then no newline stands inside a row, since a row cannot hold a brace, a newline
        and a brace without a comma between them.
        """
        data = self.data
        if not (self.lines and data.startswith(b"{") and data.endswith((b"}", b"}\n"))):
            return False
        between: int = stringzilla.count(data, b"}\n{")
        return between == len(self) - 1


class FramingFault(Struct, frozen=True):
    """A fault of the container, outside of any row that can be validated."""

    #: "oversize", "bom", "empty", "spread", "unclosed", "trailing" or "missing-item".
    kind: str
    start: Cursor
    #: Bytes concerned.
    size: int = 1
    #: Whether a record is lost because of it.
    record: bool = False


def _next_row(data: bytes, behind: int, row: bytes) -> int:
    """Return the offset of a row whose predecessor ends at `behind`."""
    at = behind
    # Mostly a comma and some white space stand between two, and a search for a long row
    # takes ten times as long as that.
    while data[at] in _BETWEEN:
        at += 1
    return at if data.startswith(row, at) else data.index(row, behind)


#: What a container is cut into: whole rows, and its faults between them.
Frame = Chunk | FramingFault
Frames = Iterator[Frame]


def code_points(data: bytes) -> int:
    """Count the code points of UTF-8 `data`; a broken sequence counts as one."""
    return len(data) if data.isascii() else len(data.decode("utf-8", "replace"))


def _items_in(text: bytes) -> list[bytes]:
    """Return the items of an array whose inside is `text`."""
    array = b"".join((b"[", text, b"]"))
    try:
        return list(map(bytes, _decode_items(array)))
    except msgspec.DecodeError:
        return items_with_constants(array)


def items_with_constants(array: bytes) -> list[bytes]:
    """Return the items of an array, whose numbers may be NaN or Infinity.

    Raises `msgspec.DecodeError` if it is no array apart from these.
    """
    items, at = [], 0
    for item in _decode_items(text := masked(array)):
        begin = text.index(bytes(item), at)
        at = begin + len(bytes(item))
        items.append(array[begin:at])
    return items


def is_blank(row: bytes) -> bool:
    """Tell whether `row` holds nothing but JSON white space."""
    return not row.strip(JSON_SPACE)


def count_newlines(data: bytes) -> int:
    """Return how many newline bytes `data` has."""
    count: int = stringzilla.count(data, b"\n")
    return count


def newline_offsets(data: bytes) -> list[int]:
    """Return the offset of each newline byte.

    Searching is 7 times as fast as splitting (rows of `benchmarks/data/generate.py`).
    """
    find, offsets = data.find, []
    offset = find(b"\n")
    while offset >= 0:
        offsets.append(offset)
        offset = find(b"\n", offset + 1)
    return offsets


class NullRows(Chunk):
    """Rows whose constants are null; `in_file` has them as they are in the file."""

    __slots__ = ("_original",)

    def __init__(self, original: Chunk) -> None:
        """Take the rows of the file."""
        rows = list(map(with_nulls, original.rows))
        if original.lines:
            end = b"\n" if original.data.endswith(b"\n") else b""
            super().__init__(b"\n".join(rows) + end, original.start)
        else:
            super().__init__(b",".join(rows), original.start, rows)
        self._original = original

    @property
    def in_file(self) -> Chunk:
        """The rows as they are in the file."""
        return self._original

    @property
    def end(self) -> Cursor:
        """Where in the file the rows end."""
        return self._original.end

    def first(self, count: int) -> Chunk:
        """Return a chunk of the first `count` rows."""
        return rows_with_nulls(self._original.first(count))

    def between(self, begin: int, end: int) -> Chunk:
        """Return a chunk of the rows from row `begin` up to, not including, `end`."""
        return rows_with_nulls(self._original.between(begin, end))

    def start_of(self, number: int) -> Cursor:
        """Return where in the file row `number`, from 0, begins."""
        return self._original.start_of(number)


def rows_with_nulls(chunk: Chunk) -> Chunk:
    """Return the rows of `chunk` with null for each constant."""
    if not may_have_constants(chunk.data):
        return chunk
    rows = NullRows(chunk)
    return rows if rows.rows != chunk.rows else chunk
