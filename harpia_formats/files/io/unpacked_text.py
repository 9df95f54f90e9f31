"""The text that an unpacker extracts from a seekable file, with its places."""

import io
from bisect import bisect_right
from collections.abc import Callable, Generator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from harpia_formats.files.io.file_kinds import TextPart, Unpacker
from harpia_formats.files.io.reader import BLOCK, FullReader, SourceError, error_reason
from harpia_formats.files.io.remote_file import RemoteFile
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.problem import Because, Place, Problem

#: Segments that are held in memory before they go to a temporary file.
SEGMENTS_HELD = 32 * 1024
#: Numbers of a segment.
_WIDTH = 9


class Segment(NamedTuple):
    """A member, or adjacent lines of a file, in a text."""

    #: The first byte of the text, and the one behind its last.
    begin: int
    end: int
    #: The line of the text in which it begins, and the code points before it there.
    line: int
    column: int
    #: The line and the byte in the member or file that it begins with, and the code
    #: points before it on that line.
    member_line: int
    member_column: int
    member_offset: int
    #: Where the name of the member begins and ends among all names.
    name_begin: int
    name_end: int


class TextSegments:
    """The segments of one text, in their order, by their numbers from 0."""

    def __init__(self) -> None:
        self._numbers = FixedRecords("Q", SEGMENTS_HELD * _WIDTH)
        self._last: Segment | None = None
        #: The end of the last one, which may still move.
        self.end = 0

    def __len__(self) -> int:
        return len(self._numbers) // _WIDTH + (self._last is not None)

    def begin(self, segment: Segment) -> None:
        """Add a segment; raises `OSError` if it cannot be written to a file."""
        if self._last is not None:
            self._numbers.extend(self._last._replace(end=self.end))
        self._last, self.end = segment, segment[1]

    def __getitem__(self, number: int) -> Segment:
        """Return a segment."""
        at, behind = number * _WIDTH, len(self._numbers)
        if at < behind:
            return Segment(*self._numbers.read(at, _WIDTH))
        if self._last is None or at > behind:
            raise IndexError(number)
        return self._last._replace(end=self.end)


#: Behind any column.
_LAST = 1 << 62


class TextPlaces:
    """Where the parts of an unpacked text stand: in members, or lines of the file.

    It grows while the text is read, by the name of each member; the places go to a
    temporary file where they are many.
    """

    def __init__(self) -> None:
        self._segments = TextSegments()
        #: The names of the members one behind the other: a list of them would take
        #: several times as much memory.
        self._names = bytearray()
        #: The member that the last part was in, and the byte behind it there.
        self._next: tuple[str, int] | None = None
        self._offset, self._line, self._column = 0, 1, 0

    def add(self, part: TextPart) -> None:
        """Add the next part of the text."""
        begin, text = self._offset, part.text
        if part.has_place:
            offset = part.offset or 0
            if self._next != (part.member, offset):
                self._begin(part, offset)
            self._next = part.member, offset + len(text)
        else:
            self._next = None
        self._offset += len(text)
        if part.has_place:
            self._segments.end = begin + len(text)
        last = text.rfind(b"\n")
        if last >= 0:
            self._line += text.count(b"\n")
            self._column = 0
        tail = text[last + 1 :] if last >= 0 else text
        is_ascii = tail.isascii()
        self._column += len(tail) if is_ascii else len(tail.decode("utf-8", "replace"))

    def _begin(self, part: TextPart, offset: int) -> None:
        """Begin a segment with a part."""
        start = len(self._names)
        self._names += part.member.encode("utf-8", "surrogateescape")
        end = len(self._names)
        at, line, column = self._offset, self._line, self._column
        there = part.line, part.column, offset
        segment = Segment(at, at, line, column, *there, start, end)
        self._segments.begin(segment)

    def _member(self, segment: Segment) -> str:
        """Return the name of the member that a segment is in."""
        name = self._names[segment.name_begin : segment.name_end]
        return name.decode("utf-8", "surrogateescape")

    def of_problem(self, problem: Problem) -> Problem:
        """Return a problem of the text with its place in the file or a member."""
        if not self._segments:
            return problem
        place = self.of_place(problem.place)
        because = tuple(self._because(one, place) for one in problem.because)
        return replace(problem, place=place, because=because)

    def of_place(self, place: Place) -> Place:
        """Return where a place of the text is in the file or a member.

        What stands nowhere is where the member before it begins; the place of the file
        as a whole, which is its first byte, stays.
        """
        is_whole = place.record is None and place.byte_offset == 0
        if is_whole or not self._segments:
            return place
        at = self._found(place.byte_offset, lambda segment: segment.begin)
        inside = place.byte_offset - at.begin
        width = place.end_column - place.column
        line, column = at.member_line, 1 + at.member_column
        if not 0 <= inside <= at.end - at.begin:
            inside = width = 0
        else:
            line += place.line - at.line
            column = place.column
            if place.line == at.line:
                column += at.member_column - at.column
        return replace(
            place,
            member=self._member(at),
            line=line,
            column=column,
            end_column=column + max(1, width),
            byte_offset=at.member_offset + inside,
        )

    def line_text(self, line: int) -> str:
        """Return where a line of the text is, for the end of a sentence."""
        if not self._segments:
            return f"line {line:,}"
        at = self._segment_at(line, _LAST)
        found = max(0, line - at.line) + at.member_line
        member = self._member(at)
        return f"line {found:,} of {member}" if member else f"line {found:,}"

    def _because(self, because: Because, place: Place) -> Because:
        """Return a reason with its place, which is that of the problem in another."""
        at = self._segment_at(because.line, because.column - 1)
        if self._member(at) != place.member:
            return replace(because, line=place.line, column=place.column)
        column = because.column
        if because.line == at.line:
            column += at.member_column - at.column
        line = because.line - at.line + at.member_line
        return replace(because, line=max(1, line), column=max(1, column))

    def _segment_at(self, line: int, column: int) -> Segment:
        """Return the segment at a place of the text, or the one before it."""
        return self._found((line, column), lambda found: (found.line, found.column))

    def _found(self, start: Any, start_of: Callable[[Segment], Any]) -> Segment:
        """Return the last segment that starts at or before `start`, or the first."""
        segments = self._segments
        numbers = range(len(segments))
        behind = bisect_right(numbers, start, key=lambda at: start_of(segments[at]))
        return segments[max(0, behind - 1)]


class UnpackedText:
    """The text that an unpacker makes of a file or folder, in pieces."""

    def __init__(self, unpacker: Unpacker, file: BinaryIO | Path, name: str) -> None:
        """Take the file or folder, and its name as shown to the user."""
        self._name = name
        self._parts = _opened(unpacker.open)(file, name)
        #: Where the parts that were read stand.
        self.places = TextPlaces()
        self._held = b""
        self._taken = 0

    def pull(self, size: int) -> bytes:
        """Return some of the text, at most `size` bytes, none at the end.

        Raises `SourceError` where the file cannot be read.
        """
        while self._taken == len(self._held):
            try:
                part = next(self._parts, None)
                if part is not None:
                    self.places.add(part)
            except OSError as error:
                raise SourceError(self._name, error_reason(error)) from error
            if part is None:
                return b""
            self._held, self._taken = part.text, 0
        piece = self._held[self._taken : self._taken + size]
        self._taken += len(piece)
        return piece

    def close(self) -> None:
        """End the unpacker."""
        self._parts.close()


def _opened(place: str) -> Callable[..., Generator[TextPart, None, None]]:
    """Return the function of an unpacker at `place`, which is `module:name`."""
    module, _, name = place.partition(":")
    found: Callable[..., Generator[TextPart, None, None]] = getattr(
        import_module(module), name
    )
    return found


#: Bytes of a copy that are held in memory before they go to the disk.
BYTES_HELD = 8 * 1024 * 1024
#: Bytes that a request reads of a remote file, unless more are asked for.
AHEAD = 256 * 1024


def seekable(
    origin: object,
    stream: BinaryIO,
    size: int | None,
    data: FullReader,
    note: Callable[[int], None],
) -> BinaryIO:
    """Return a file with the bytes of a source that can seek, at its beginning.

    `stream` reads the `size` bytes of `origin`; where it cannot seek, or `origin` is
    None, the bytes of `data` are copied to a temporary file. `note` is called with the
    number of bytes after each read. Raises `OSError` if they cannot be written.
    """
    ranges: _Ranges | None = None
    buffer = BLOCK
    if isinstance(origin, RemoteFile):
        if origin.ranged and size is not None:
            ranges, buffer = _RemoteRanges(origin), AHEAD
    elif isinstance(origin, (bytes, Path)) and size is not None:
        ranges = _StreamRanges(stream)
    if ranges is None or size is None:
        return _copied(data)
    file = io.BufferedReader(_RangedFile(ranges, size, note), buffer)
    return cast("BinaryIO", file)


class _Ranges(Protocol):
    """Bytes that can be read in ranges."""

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range, or fewer; raises `OSError`."""


class _StreamRanges:
    """A stream that can seek."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, begin: int, end: int) -> bytes:
        self._stream.seek(begin)
        return self._stream.read(end - begin)


class _RemoteRanges:
    """A remote file, read by a request for each range."""

    def __init__(self, remote: RemoteFile) -> None:
        self._remote = remote

    def read(self, begin: int, end: int) -> bytes:
        return self._remote.read(begin, end)


class _RangedFile(io.RawIOBase):
    """Ranges of bytes as a file, whose reads are counted."""

    def __init__(self, ranges: _Ranges, size: int, note: Callable[[int], None]) -> None:
        super().__init__()
        self._ranges = ranges
        self._size = size
        self._note = note
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}
        if start[whence] + offset < 0:
            raise OSError(None, "a place before the beginning of the file")
        self._at = start[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        end = min(self._at + len(view), self._size)
        data = self._ranges.read(self._at, end) if self._at < end else b""
        view[: len(data)] = data
        self._at += len(data)
        self._note(len(data))
        return len(data)


def _copied(data: FullReader) -> BinaryIO:
    """Return a temporary file with all bytes of `data`, at its beginning.

    Raises `SourceError` if they cannot be read, `OSError` if they cannot be written.
    """
    copy = SpooledTemporaryFile(BYTES_HELD)  # noqa: SIM115 - the caller closes it
    try:
        while block := data.read(BLOCK):
            copy.write(block)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return cast("BinaryIO", copy)
