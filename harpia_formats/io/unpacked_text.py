"""The text that an unpacker makes of a file, and where its parts stand."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Generator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from harpia_formats.io.reader import SourceError, error_reason
from harpia_formats.io.unpacking import TextPart, Unpacker
from harpia_formats.model.problem import Because, Place, Problem

#: Behind any column.
_LAST = 1 << 62


class TextPlaces:
    """Where the parts of an unpacked text stand: in members, or lines of the file.

    It grows while the text is read, by one small entry for each member.
    """

    def __init__(self) -> None:
        #: Of each segment, which is a member or adjacent lines: the first byte of the
        #: text, and the one behind its last.
        self._begins = array("Q")
        self._ends = array("Q")
        #: The line of the text in which it begins, and the code points before it there.
        self._lines = array("Q")
        self._columns = array("Q")
        #: The line and the byte in the member or file that it begins with.
        self._member_lines = array("Q")
        self._member_offsets = array("Q")
        #: The names of the members one behind the other, and where each ends: a list of
        #: them would take several times as much memory.
        self._names = bytearray()
        self._name_ends = array("Q", (0,))
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
            self._ends[-1] = begin + len(text)
        last = text.rfind(b"\n")
        if last >= 0:
            self._line += text.count(b"\n")
            self._column = 0
        tail = text[last + 1 :] if last >= 0 else text
        is_ascii = tail.isascii()
        self._column += len(tail) if is_ascii else len(tail.decode("utf-8", "replace"))

    def _begin(self, part: TextPart, offset: int) -> None:
        """Begin a segment with a part."""
        self._begins.append(self._offset)
        self._ends.append(self._offset)
        self._lines.append(self._line)
        self._columns.append(self._column)
        self._member_lines.append(part.line)
        self._member_offsets.append(offset)
        self._names += part.member.encode("utf-8", "surrogateescape")
        self._name_ends.append(len(self._names))

    def _member(self, number: int) -> str:
        """Return the name of the member that a segment is in."""
        name = self._names[self._name_ends[number] : self._name_ends[number + 1]]
        return name.decode("utf-8", "surrogateescape")

    def of_problem(self, problem: Problem) -> Problem:
        """Return a problem of the text with its place in the file or a member."""
        if not self._begins:
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
        if is_whole or not self._begins:
            return place
        at = max(0, bisect_right(self._begins, place.byte_offset) - 1)
        inside = place.byte_offset - self._begins[at]
        width = place.end_column - place.column
        line, column = self._member_lines[at], 1
        if not 0 <= inside <= self._ends[at] - self._begins[at]:
            inside = width = 0
        else:
            line += place.line - self._lines[at]
            column = place.column
            if place.line == self._lines[at]:
                column -= self._columns[at]
        return replace(
            place,
            member=self._member(at),
            line=line,
            column=column,
            end_column=column + max(1, width),
            byte_offset=self._member_offsets[at] + inside,
        )

    def line_text(self, line: int) -> str:
        """Return where a line of the text is, for the end of a sentence."""
        if not self._begins:
            return f"line {line:,}"
        at = self._segment_at(line, _LAST)
        found = max(0, line - self._lines[at]) + self._member_lines[at]
        member = self._member(at)
        return f"line {found:,} of {member}" if member else f"line {found:,}"

    def _because(self, because: Because, place: Place) -> Because:
        """Return a reason with its place, which is that of the problem in another."""
        at = self._segment_at(because.line, because.column - 1)
        if self._member(at) != place.member:
            return replace(because, line=place.line, column=place.column)
        column = because.column
        if because.line == self._lines[at]:
            column -= self._columns[at]
        line = because.line - self._lines[at] + self._member_lines[at]
        return replace(because, line=max(1, line), column=max(1, column))

    def _segment_at(self, line: int, column: int) -> int:
        """Return the segment at a place of the text, or the one before it."""
        numbers = range(len(self._begins))
        before = bisect_right(numbers, (line, column), key=self._start_of)
        return max(0, before - 1)

    def _start_of(self, number: int) -> tuple[int, int]:
        return self._lines[number], self._columns[number]


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
            except OSError as error:
                raise SourceError(self._name, error_reason(error)) from error
            if part is None:
                return b""
            self.places.add(part)
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
