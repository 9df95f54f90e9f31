"""Cut an object whose members are large arrays into their items, and a header.

The header is the object with these arrays empty. It is read in the same pass, so a
pipe can be read, and it knows where in the file its pieces were.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from harpia_formats.files.framing.chunk import (
    JSON_SPACE,
    Chunk,
    Cursor,
    FramingFault,
    is_blank,
)
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    ValueState,
    read_value,
    skip_space,
)
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.model.problem import Path

_COLON = ord(":")
#: A member of an object that is an array, behind another member.
_array_member = re.compile(
    rb',[ \t\r\n]*+("(?:[^"\\]|\\.)*+")[ \t\r\n]*+:[ \t\r\n]*+\[', re.DOTALL
)
#: Tells whether the array at a path is cut into its items.
IsCut = Callable[[Path], bool]


@dataclass(frozen=True, slots=True)
class RowArray:
    """Announces that the chunks that follow are items of the array at `path`."""

    path: Path
    #: The text of the object up to the first of its arrays that are cut.
    before: bytes = field(default=b"", compare=False, repr=False)


class DocumentHeader(Struct, frozen=True):
    """The text of an object without the items of the arrays that were cut."""

    text: bytes
    #: Where pieces of `text` begin, as offsets in `text` and positions in the file.
    pieces: tuple[tuple[int, Cursor], ...]


#: What an object is cut into.
DocumentFrame = Chunk | FramingFault | RowArray | DocumentHeader
DocumentFrames = Iterator[DocumentFrame]
#: Yields frames, and returns whether no array was left open.
_ClosedFrames = Generator[DocumentFrame, None, bool]


def document_frames(
    buffer: ByteBuffer, start: Cursor, limit: int, is_cut: IsCut, depth: int = 1
) -> DocumentFrames:
    """Yield the items of the arrays for which `is_cut` is true, and then the header.

    Arrays are looked for in objects down to `depth` levels. A header of more than
    `limit` bytes is a fault, and nothing is cut behind a single value of more than
    that; if an array is not closed, there is no header.
    """
    return _ObjectCutter(buffer, start, limit, is_cut, depth).run()


@dataclass(slots=True)
class _ObjectCutter:
    """Cuts an object, and holds its header so far."""

    buffer: ByteBuffer
    #: Position of the first byte of `buffer.data`.
    start: Cursor
    limit: int
    is_cut: IsCut
    depth: int
    #: How many arrays were cut.
    arrays: int = 0
    #: Bytes skipped because the header would be over the limit.
    excess: int = 0
    text: bytearray = field(default_factory=bytearray)
    pieces: list[tuple[int, Cursor]] = field(default_factory=list)

    def run(self) -> DocumentFrames:
        """Yield all frames of the object."""
        self.start = skip_space(self.buffer, self.start) or self.start
        beginning = self.start
        self._begin_piece()
        closed = yield from self._object(())
        if not closed:
            return
        while (place := skip_space(self.buffer, self.start)) is not None:
            self.start = place
            self._begin_piece()
            self._take(len(self.buffer.data))
        text = bytes(self.text)
        # A fault in its text says more than that it is long.
        if self.excess and read_value(text, 0)[0] is not ValueState.BROKEN:
            yield FramingFault("oversize", beginning, len(text) + self.excess)
        else:
            yield DocumentHeader(text, tuple(self.pieces))

    def _object(self, path: Path) -> _ClosedFrames:
        """Read the members of the object at `path`."""
        self._take(1)
        while (byte := self._next_byte()) and byte != b"}":
            if byte == b",":
                self._take(1)
                continue
            key = self._key()
            if key is None:
                if self._skip_broken(path):
                    continue
                return True
            closed = yield from self._member((*path, key))
            if not closed:
                return False
        self._take(1)
        return True

    def _member(self, path: Path) -> _ClosedFrames:
        """Read the value of the member at `path`, or cut it."""
        byte = self._next_byte()
        if byte == b"[" and self.is_cut(path):
            return (yield from self._array(path))
        if byte == b"{" and len(path) < self.depth:
            return (yield from self._object(path))
        state, end = self._read_value()
        if state is not ValueState.BROKEN:
            self._take(end)
        elif not self._skip_broken(path[:-1]):
            self._take(len(self.buffer.data))
        return True

    def _array(self, path: Path) -> _ClosedFrames:
        """Cut the array at `path` into its items."""
        from harpia_formats.files.framing.array import member_rows  # noqa: PLC0415 - most files have no such array

        before = b"" if self.arrays else bytes(self.text)
        self.text += b"["
        yield RowArray(path, before)
        rows = member_rows(self.buffer, self.start, self.limit, before=self.arrays)
        self.arrays += 1
        end, closed = yield from rows
        # The bracket is behind all items, so it begins a piece of its own.
        self.start = Cursor(end.offset - 1, end.line, end.column - 1)
        self._begin_piece()
        self.text += b"]"
        self.start = end
        return closed

    def _key(self) -> str | None:
        """Take a key and the colon behind it; return None if there is none."""
        state, end = self._read_value()
        text = self.buffer.data[:end]
        if state is not ValueState.ENDED or self.buffer.data[end] != _COLON:
            return None
        key = decoded_key(text)
        if key is not None:
            self._take(end + 1)
        return key

    def _read_value(self) -> tuple[ValueState, int]:
        """Return the state of the next value, and where it ends."""
        while True:
            state, end = read_value(self.buffer.data, 0)
            if state in {ValueState.ENDED, ValueState.BROKEN}:
                return state, end
            if len(self.buffer.data) > self.limit or not self.buffer.grow():
                return state, len(self.buffer.data)

    def _skip_broken(self, path: Path) -> bool:
        """Take all bytes up to the next array that is cut; tell whether there is one.

        It is a member of the object at `path`, so that records behind a fault are
        validated.
        """
        while True:
            for member in _array_member.finditer(self.buffer.data):
                key = decoded_key(member[1])
                if key is not None and self.is_cut((*path, key)):
                    self._take(member.start())
                    return True
            if len(self.buffer.data) > self.limit or not self.buffer.grow():
                return False

    def _next_byte(self) -> bytes:
        """Take white space; return the byte behind it, nothing at the end."""
        while self.buffer.data or self.buffer.fill(1):
            data = self.buffer.data
            self._take(len(data) - len(data.lstrip(JSON_SPACE)))
            if self.buffer.data:
                return self.buffer.data[:1]
        return b""

    def _take(self, size: int) -> None:
        """Move `size` bytes from the buffer to the header."""
        taken = self.buffer.take(size)
        self.start = self.start.after(taken)
        if self.excess or len(self.text) + len(taken) > self.limit:
            self.excess += len(taken)
        else:
            self.text += taken

    def _begin_piece(self) -> None:
        """Note where in the file the next bytes of the header are."""
        self.pieces.append((len(self.text), self.start))


def decoded_key(text: bytes) -> str | None:
    """Return the string that the JSON `text` is, None if it is none."""
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


_decode = msgspec.json.Decoder().decode


class NumberedRecord(Struct, frozen=True):
    """A record with its number and the chunk that it is a row of."""

    #: From 1; blank lines are not counted, rows over the limit are.
    number: int
    chunk: Chunk
    row: int

    @property
    def start(self) -> Cursor:
        """Where in the file the record begins."""
        return self.chunk.start_of(self.row)

    @property
    def text(self) -> bytes:
        """The bytes of the record in the file."""
        return self.chunk.texts[self.row]

    def value(self) -> Any:
        """Return the decoded record, None if it is not JSON."""
        return decoded_or_none(self.chunk.rows[self.row])


def decoded_or_none(text: bytes) -> Any:
    """Return the value of a JSON text, None if it is not JSON."""
    try:
        return _decode(text)
    except NOT_JSON:
        return None


def numbered_records(
    frames: Iterable[DocumentFrame], before: int = 0
) -> Iterator[NumberedRecord]:
    """Yield each record of `frames` in order, with its number.

    There are so many records `before` the first one.
    """
    number = before
    for frame in frames:
        if isinstance(frame, FramingFault):
            number += frame.record
        elif isinstance(frame, Chunk):
            for row, text in enumerate(frame.rows):
                if not is_blank(text):
                    number += 1
                    yield NumberedRecord(number, frame, row)
