"""Segments of an unpacked text, in bounded memory: many of them go to a file."""

from array import array
from typing import IO, NamedTuple
from weakref import finalize

#: Segments that are held in memory before they go to a temporary file.
HELD = 32 * 1024
#: Numbers of a segment, and the bytes of each in memory and in the file.
_WIDTH, _BYTES = 9, 8


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
        self._held = array("Q")
        self._in_file = 0
        self._file: IO[bytes] | None = None
        self._last: Segment | None = None
        #: The end of the last one, which may still move.
        self.end = 0

    def __len__(self) -> int:
        held = len(self._held) // _WIDTH
        return self._in_file + held + (self._last is not None)

    def begin(self, segment: Segment) -> None:
        """Add a segment; raises `OSError` if it cannot be written to a file."""
        held = self._held
        if self._last is not None:
            held.extend(self._last)
            held[1 - _WIDTH] = self.end
            if len(held) >= HELD * _WIDTH:
                self._spill()
        self._last, self.end = segment, segment[1]

    def __getitem__(self, number: int) -> Segment:
        """Return a segment."""
        if number < self._in_file:
            return self._read(number)
        at = (number - self._in_file) * _WIDTH
        if at < len(self._held):
            return Segment(*self._held[at : at + _WIDTH])
        if self._last is None or at > len(self._held):
            raise IndexError(number)
        return self._last._replace(end=self.end)

    def _spill(self) -> None:
        """Move what is held in memory to the end of the file."""
        if self._file is None:
            from tempfile import TemporaryFile  # noqa: PLC0415 - only for many segments

            self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
            finalize(self, self._file.close)
        self._file.seek(self._in_file * _WIDTH * _BYTES)
        self._file.write(self._held.tobytes())
        self._in_file += len(self._held) // _WIDTH
        del self._held[:]

    def _read(self, number: int) -> Segment:
        assert self._file is not None  # noqa: S101 - some are in it
        self._file.seek(number * _WIDTH * _BYTES)
        found = array("Q")
        found.frombytes(self._file.read(_WIDTH * _BYTES))
        return Segment(*found)
