"""Segments of an unpacked text, in bounded memory: many of them go to a file."""

from typing import NamedTuple

from harpia_formats.files.io.spill import FixedRecords

#: Segments that are held in memory before they go to a temporary file.
HELD = 32 * 1024
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
        self._numbers = FixedRecords("Q", HELD * _WIDTH)
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
