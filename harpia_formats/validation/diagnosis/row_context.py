"""A row with its bytes, for placing what is said of it."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from harpia_formats.framing.chunk import Cursor, code_points
from harpia_formats.model.problem import Excerpt, Path, Place, pointer_of
from harpia_formats.parsing.pointer_index import PointerIndex

#: Code points of a line that a code frame shows around a place.
FRAME = 100


@dataclass(slots=True)
class _Memory:
    """What was found in a row, for the next one that asks."""

    spans: PointerIndex | None = None
    #: A byte of the row, and where in the file it is.
    at: int = 0
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row with its bytes and where it is, for placing what is said of it."""

    path: str
    text: bytes
    start: Cursor
    number: int | None
    #: The decoded value, or None where it does not parse.
    value: Any = None
    id_key: str = ""
    #: Where the row is in its record.
    prefix: Path = ()
    #: Where pieces of the text begin, in it and in the file, if it is not all one.
    pieces: tuple[tuple[int, Cursor], ...] = ()
    #: The bytes of each field of a table's row; of JSON they are looked for.
    spans: Mapping[Any, tuple[int, int]] | None = None
    _memory: _Memory = field(default_factory=_Memory, repr=False, compare=False)

    def bytes_of(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return the bytes to mark for the value at `path`, or for its key.

        Of an array or object it is only the opening bracket.
        """
        if self.spans is not None:
            return self.spans.get(path[0], (0, 1)) if path else (0, 1)
        memory = self._memory
        memory.spans = memory.spans or PointerIndex(self.text)
        span = memory.spans.of(path)
        if at_key and span.key is not None and span.key_end is not None:
            return span.key, span.key_end
        if self.text[span.start] in b"{[":
            return span.start, span.start + 1
        return span.start, span.end

    def cursor(self, at: int) -> Cursor:
        """Return where in the file the byte `at` of the row is."""
        begin, start = 0, self.start
        before = bisect_right(self.pieces, at, key=itemgetter(0))
        if before:
            begin, start = self.pieces[before - 1]
        memory = self._memory
        if memory.cursor is not None and begin <= memory.at <= at:
            begin, start = memory.at, memory.cursor
        cursor = start.after(self.text[begin:at])
        # In what is not UTF-8 a place may be inside of what counts as one character.
        if self.value is not None:
            memory.at, memory.cursor = at, cursor
        return cursor

    def place(self, start: int, end: int, path: Path) -> Place:
        """Return the place of the bytes from `start` to `end` of the row."""
        here = self.cursor(start)
        marked = self.text[start:end].split(b"\n", 1)[0]
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
        """What the record calls itself."""
        has_id = self.id_key and isinstance(self.value, dict)
        found = self.value.get(self.id_key) if has_id else None
        is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
        return found if is_id else None

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
        lead = self.text[max(first, start - 4 * room) : start]
        lead_text = lead.decode("utf-8", "replace")
        cut_left = start - 4 * room > first or len(lead_text) > room // 2
        lead_text = lead_text[-(room // 2) :]
        tail = self.text[end : min(last, end + 4 * room)].decode("utf-8", "replace")
        tail_text = tail[: room - len(lead_text)]
        cut_right = end + 4 * room < last or len(tail) > len(tail_text)
        if len(marked) > FRAME:
            marked, tail_text, cut_right = marked[:FRAME], "", True
        text = ("…" if cut_left else "") + lead_text
        begin = len(text)
        text += marked + tail_text + ("…" if cut_right else "")
        return Excerpt(text.rstrip("\r"), begin, begin + max(1, len(marked)))
