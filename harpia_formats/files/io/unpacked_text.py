"""The text that an unpacker makes of a file, and where its parts stand."""

from bisect import bisect_right
from collections.abc import Callable, Generator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.text_segments import Segment, TextSegments
from harpia_formats.files.io.unpacking import TextPart, Unpacker
from harpia_formats.model.problem import Because, Place, Problem

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
