"""A row with its bytes and its place in the file, to place the problems found in it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Any

from msgspec import Struct

from harpia_formats.files.framing.chunk import Cursor, code_points
from harpia_formats.files.parsing.locate import Duplicate, PointerIndex, duplicates
from harpia_formats.model.problem import Excerpt, Path, Place, pointer_of

#: Code points of a line that a code frame shows around a place.
FRAME = 100


class _PlaceCache(Struct):
    """What was computed for one problem of a row, for its next problem."""

    #: The bytes of each value of the row.
    index: PointerIndex | None = None
    #: A byte of the row, and where in the file it is.
    at: int = 0
    cursor: Cursor | None = None
    #: The repeated keys of the row from this number on.
    repeated: Iterator[Duplicate] | None = None
    next_repeated: int = 0


@dataclass(frozen=True, slots=True)
class RowContext:
    """One row with its bytes and its place, to place the problems found in it."""

    #: The file as it is named in problems.
    path: str
    text: bytes
    #: Where the first byte of the row is in the file.
    start: Cursor
    #: The number of its record, None if it is no record.
    number: int | None
    #: The decoded value, or None where it does not parse.
    value: Any = None
    #: The key of a record's id, "" if the format has none.
    id_key: str = ""
    #: The path of the row in its record.
    prefix: Path = ()
    #: Where each piece of the text begins, in the text and in the file, if the pieces
    #: are not adjacent in the file.
    pieces: tuple[tuple[int, Cursor], ...] = ()
    #: The first byte and the one behind the last of each field of a table's row;
    #: None for JSON.
    spans: Mapping[Any, tuple[int, int]] | None = None
    _cache: _PlaceCache = field(default_factory=_PlaceCache, repr=False, compare=False)

    def bytes_of(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return where the bytes to mark for the value at `path` begin and end.

        With `at_key` they are those of its key. Of an array or object they are only
        the opening bracket.
        """
        if self.spans is not None:
            return self.spans.get(path[0], (0, 1)) if path else (0, 1)
        cache = self._cache
        cache.index = cache.index or PointerIndex(self.text)
        span = cache.index.of(path)
        if at_key and span.key is not None and span.key_end is not None:
            return span.key, span.key_end
        if self.text[span.start] in b"{[":
            return span.start, span.start + 1
        return span.start, span.end

    def repeated_key(self, before: int) -> Duplicate:
        """Return the repeated key of the row with so many before it."""
        cache = self._cache
        if cache.repeated is None or before < cache.next_repeated:
            cache.repeated, cache.next_repeated = duplicates(self.text), 0
        found = next(islice(cache.repeated, before - cache.next_repeated, None))
        cache.next_repeated = before + 1
        return found

    def cursor(self, at: int) -> Cursor:
        """Return the offset, line and column in the file of byte `at` of the row."""
        begin, start = 0, self.start
        before = bisect_right(self.pieces, at, key=itemgetter(0))
        if before:
            begin, start = self.pieces[before - 1]
        cache = self._cache
        if cache.cursor is not None and begin <= cache.at <= at:
            begin, start = cache.at, cache.cursor
        cursor = start.after(self.text[begin:at])
        # Without a value the text may not be UTF-8, and `at` inside of a character.
        if self.value is not None:
            cache.at, cache.cursor = at, cursor
        return cursor

    def place(self, start: int, end: int, path: Path) -> Place:
        """Return the place of the bytes from `start` to `end` of the row."""
        here = self.cursor(start)
        marked = self.text[start:end].partition(b"\n")[0]
        width = max(1, code_points(marked))
        return Place(
            path=self.path,
            line=here.line,
            column=here.column + 1,
            end_column=here.column + 1 + width,
            byte_offset=here.offset,
            record=self.number,
            record_id=self.id,
            pointer=pointer_of((*self.prefix, *path)),
            record_id_key=self.id_key,
        )

    @property
    def id(self) -> str | int | None:
        """The id of the record, None if it has none."""
        return id_of(self.value, self.id_key)

    def excerpt(self, start: int, end: int) -> Excerpt:
        """Return the line around the bytes from `start` to `end` of the row."""
        first = self.text.rfind(b"\n", 0, start) + 1
        last = self.text.find(b"\n", start)
        last = len(self.text) if last < 0 else last
        before = bisect_right(self.pieces, start, key=itemgetter(0))
        if before:
            first = max(first, self.pieces[before - 1][0])
        if before < len(self.pieces):
            last = min(last, self.pieces[before][0])
        end = min(end, last)
        marked = self.text[start:end].decode("utf-8", "replace")
        room = max(FRAME - len(marked), FRAME // 2)
        reach = 4 * room + 1  # holds more code points than are shown, or all
        lead = self.text[max(first, start - reach) : start].decode("utf-8", "replace")
        lead_text = lead[-(room // 2) :]
        tail = self.text[end : min(last, end + reach)].decode("utf-8", "replace")
        tail_text = tail[: room - len(lead_text)]
        cut_left, cut_right = len(lead) > len(lead_text), len(tail) > len(tail_text)
        if len(marked) > FRAME:
            marked, tail_text, cut_right = marked[:FRAME], "", True
        text = ("…" if cut_left else "") + lead_text
        begin = len(text)
        text += marked + tail_text + ("…" if cut_right else "")
        return Excerpt(text.rstrip("\r"), begin, begin + max(1, len(marked)))


def id_of(value: Any, key: str) -> str | int | None:
    """Return the id that a row has at `key`, None if it has none."""
    found = value.get(key) if key and isinstance(value, dict) else None
    is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
    return found if is_id else None
