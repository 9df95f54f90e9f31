"""Cut an object whose members are large arrays: into their items, and a header.

The header is the object with these arrays empty. It is read in the same pass, so a
pipe will do; it knows where its pieces were in the file.
"""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import msgspec

from harpia_formats.framing.lines import (
    JSON_SPACE,
    ByteBuffer,
    Chunk,
    Cursor,
    FramingFault,
    skip_space,
)
from harpia_formats.framing.next_value import ValueState, read_value
from harpia_formats.model.problem import Path

_COLON = ord(":")
#: A member of an object that is an array, behind another one.
_array_member = re.compile(
    rb',[ \t\r\n]*+("(?:[^"\\]|\\.)*+")[ \t\r\n]*+:[ \t\r\n]*+\[', re.DOTALL
)
#: Tells whether the array at a path is cut into its items.
IsCut = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class RowArray:
    """The chunks that follow are items of the array at `path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """What is left of an object without the items of its large arrays."""

    text: bytes
    #: Where pieces of `text` begin, in it and in the file.
    pieces: tuple[tuple[int, Cursor], ...]


DocumentFrames = Iterator[Chunk | FramingFault | RowArray | DocumentHeader]
_Cutting = Generator[Chunk | FramingFault | RowArray | DocumentHeader, None, bool]


def document_frames(
    feed: ByteBuffer, start: Cursor, limit: int, is_cut: IsCut, depth: int = 1
) -> DocumentFrames:
    """Yield the items of the arrays that are cut, and at the end the header.

    Objects down to `depth` levels are looked into. A header of more than `limit`
    bytes is a flaw, and nothing is cut behind a single value that is too long; where
    an array is not closed there is no header.
    """
    return _Slicer(feed, start, limit, is_cut, depth).run()


@dataclass(slots=True)
class _Slicer:
    feed: ByteBuffer
    #: Position of the first byte of `feed.data`.
    start: Cursor
    limit: int
    is_cut: IsCut
    depth: int
    #: Bytes passed over because the header would be too long.
    excess: int = 0
    text: bytearray = field(default_factory=bytearray)
    pieces: list[tuple[int, Cursor]] = field(default_factory=list)

    def run(self) -> DocumentFrames:
        self.start = skip_space(self.feed, self.start) or self.start
        beginning = self.start
        self._mark()
        closed = yield from self._object(())
        if not closed:
            return
        while (place := skip_space(self.feed, self.start)) is not None:
            self.start = place
            self._mark()
            self._take(len(self.feed.data))
        text = bytes(self.text)
        # What is broken before its end says more than that it is long.
        if self.excess and read_value(text, 0)[0] is not ValueState.BROKEN:
            yield FramingFault("oversize", beginning, len(text) + self.excess)
        else:
            yield DocumentHeader(text, tuple(self.pieces))

    def _object(self, path: Path) -> _Cutting:
        """Go through the members of an object; tell whether no array is left open."""
        self._take(1)
        while (byte := self._next_byte()) and byte != b"}":
            if byte == b",":
                self._take(1)
                continue
            key = self._key()
            if key is None:
                if self._pass_over_broken(path):
                    continue
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
        if self._value() or self._pass_over_broken(path[:-1]):
            return True
        self._take(len(self.feed.data))
        return True

    def _array(self, path: Path) -> _Cutting:
        from harpia_formats.framing.array import member_rows  # noqa: PLC0415 - few files need it

        self.text += b"["
        yield RowArray(path)
        end, closed = yield from member_rows(self.feed, self.start, self.limit)
        # The bracket is behind all items, and so begins a piece of its own.
        self.start = Cursor(end.offset - 1, end.line, end.column - 1)
        self._mark()
        self.text += b"]"
        self.start = end
        return closed

    def _key(self) -> str | None:
        """Take a key and the colon behind it; return None if there is none."""
        state, end = self._read()
        text = self.feed.data[:end]
        if state is not ValueState.ENDED or self.feed.data[end] != _COLON:
            return None
        key = decoded_key(text)
        if key is not None:
            self._take(end + 1)
        return key

    def _value(self) -> bool:
        """Take a value; tell whether it is not broken."""
        state, end = self._read()
        if state is not ValueState.BROKEN:
            self._take(end)
        return state is not ValueState.BROKEN

    def _read(self) -> tuple[ValueState, int]:
        """Return what the parser says about the next value, and where it ends."""
        while True:
            state, end = read_value(self.feed.data, 0)
            if state in {ValueState.ENDED, ValueState.BROKEN}:
                return state, end
            if len(self.feed.data) > self.limit or not self.feed.grow():
                return state, len(self.feed.data)

    def _pass_over_broken(self, path: Path) -> bool:
        """Take what is broken up to the next array that is cut, if there is one.

        It is a member of the object at `path`; so records behind a fault are judged.
        """
        while True:
            for each in _array_member.finditer(self.feed.data):
                key = decoded_key(each[1])
                if key is not None and self.is_cut((*path, key)):
                    self._take(each.start())
                    return True
            if len(self.feed.data) > self.limit or not self.feed.grow():
                return False

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


def decoded_key(text: bytes) -> str | None:
    """Return the key that `text` is, None if it is none."""
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
