"""Cut an object whose members are large arrays: into their items, and a header.

The header is the object with these arrays empty. It is read in the same pass, so a
pipe will do; it knows where its pieces were in the file.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import msgspec

from harpia_formats.array import member_rows
from harpia_formats.framing import JSON_SPACE, Chunk, Cursor, Feed, Flaw
from harpia_formats.item import State, read_item
from harpia_formats.problem import Path

#: Tells whether the array at a path is cut into its items.
IsCut = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """The chunks that follow are items of the array at `path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class Header:
    """What is left of an object without the items of its large arrays."""

    text: bytes
    #: Where pieces of `text` begin, in it and in the file.
    pieces: tuple[tuple[int, Cursor], ...]


Slices = Iterator[Chunk | Flaw | Member | Header]
_Cutting = Generator[Chunk | Flaw | Member | Header, None, bool]


def slices_of(
    feed: Feed, start: Cursor, limit: int, is_cut: IsCut, depth: int = 1
) -> Slices:
    """Yield the items of the arrays that are cut, and at the end the header.

    Objects down to `depth` levels are looked into. A header of more than `limit`
    bytes is a flaw, and nothing is cut behind a single value that is too long; where
    an array is not closed there is no header.
    """
    return _Slicer(feed, start, limit, is_cut, depth).run()


@dataclass(slots=True)
class _Slicer:
    feed: Feed
    #: Position of the first byte of `feed.data`.
    start: Cursor
    limit: int
    is_cut: IsCut
    depth: int
    #: Bytes passed over because the header would be too long.
    excess: int = 0
    text: bytearray = field(default_factory=bytearray)
    pieces: list[tuple[int, Cursor]] = field(default_factory=list)

    def run(self) -> Slices:
        beginning = self.start
        self._mark()
        closed = yield from self._object(())
        if not closed:
            return
        while self.feed.data or self.feed.fill(1):
            self._take(len(self.feed.data))
        if self.excess:
            size = len(self.text) + self.excess
            yield Flaw("oversize", beginning, size)
        else:
            yield Header(bytes(self.text).rstrip(JSON_SPACE), tuple(self.pieces))

    def _object(self, path: Path) -> _Cutting:
        """Go through the members of an object; tell whether no array is left open."""
        self._take(1)
        while (byte := self._next_byte()) and byte != b"}":
            if byte == b",":
                self._take(1)
                continue
            key = self._key()
            if key is None:
                return True
            closed = yield from self._member((*path, key))
            if not closed:
                return False
        self._take(1)
        return True

    def _member(self, path: Path) -> _Cutting:
        """Take the value of a member, or cut it; tell whether no array is left open."""
        byte = self._next_byte()
        if byte == b"[" and self.is_cut(path):
            return (yield from self._array(path))
        if byte == b"{" and len(path) < self.depth:
            return (yield from self._object(path))
        self._value()
        return True

    def _array(self, path: Path) -> _Cutting:
        self.text += b"[]"
        yield Member(path)
        self.start, closed = yield from member_rows(self.feed, self.start, self.limit)
        self._mark()
        return closed

    def _key(self) -> str | None:
        """Take a key and the colon behind it; return None if there is none."""
        end = self._end_of_value()
        text = self.feed.data[:end]
        if self.feed.data[end : end + 1] != b":" or not text.startswith(b'"'):
            return None
        try:
            key = msgspec.json.decode(text, type=str)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        self._take(end + 1)
        return key

    def _value(self) -> None:
        """Take a value, or all that is held where it is broken."""
        self._take(self._end_of_value())

    def _end_of_value(self) -> int:
        """Return where the next value ends in what is held, white space included."""
        while True:
            state, end = read_item(self.feed.data, 0)
            if state in {State.ENDED, State.BROKEN}:
                return end
            if len(self.feed.data) > self.limit or not self.feed.grow():
                return len(self.feed.data)

    def _next_byte(self) -> bytes:
        """Take white space; return what is behind it, nothing at the end."""
        while self.feed.data or self.feed.fill(1):
            data = self.feed.data
            self._take(len(data) - len(data.lstrip(JSON_SPACE)))
            if self.feed.data:
                return self.feed.data[:1]
        return b""

    def _take(self, size: int) -> None:
        """Move `size` bytes from the feed to the header."""
        taken = self.feed.data[:size]
        self.feed.data = self.feed.data[size:]
        self.start = self.start.after(taken)
        if self.excess or len(self.text) + len(taken) > self.limit:
            self.excess += len(taken)
        else:
            self.text += taken

    def _mark(self) -> None:
        """Note where in the file the header goes on."""
        self.pieces.append((len(self.text), self.start))
