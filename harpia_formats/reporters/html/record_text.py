"""The text around a problem, read again from its file for an HTML report."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harpia_formats.model.problem import Excerpt, Place, Problem

#: Bytes of the longest line that is shown as a whole record.
_LONGEST = 256 * 1024
#: Bytes that are read before and behind a value that is not in such a line.
_AROUND = 8 * 1024
#: Lines that are shown before and behind the line of the value.
_LINES = 7
#: Code points of the excerpt that must be in the file as they were.
_COMPARED = 40
_CUT = "…"


@dataclass(frozen=True, slots=True)
class RecordText:
    """Some lines of a file with the value that a problem is about."""

    text: str
    #: The first marked character in `text`, and the one behind the last.
    start: int
    end: int
    #: The number of the first line in the file, from 1.
    first_line: int
    #: Whether it is one line with a whole JSON object: a record.
    is_object: bool


def read_record_text(problem: Problem) -> RecordText | str:
    """Return the text around a problem from its file, or why there is none to show.

    The reason is "" for a problem that hides values. Every text of a record in an HTML
    report that is not in the result itself comes from here. What is read must still
    agree with the excerpt of the problem. Only regular local files that are not
    compressed are read, at most 512 KB of each.
    """
    place, excerpt = problem.place, problem.excerpt
    if problem.hides_values:
        return ""
    if place.member:
        return "it is in an archive"
    if excerpt is None:
        return "it has no place in a line"
    path = Path(place.path)
    try:
        if not path.is_file():
            return "its file cannot be read again"
        with path.open("rb") as file:
            return _read(file, place, excerpt)
    except (OSError, ValueError):
        return "its file cannot be read again"


def _read(file: BinaryIO, place: Place, excerpt: Excerpt) -> RecordText | str:
    first = max(0, place.byte_offset - _LONGEST)
    file.seek(first)
    before = file.read(place.byte_offset - first)
    after = file.read(_LONGEST)
    if not _agrees(before, after, excerpt):
        return "its file is compressed or was changed"
    mark = excerpt.text[excerpt.start : excerpt.end]
    line_start = before.rfind(b"\n") + 1
    line_end = after.find(b"\n")
    is_start = line_start > 0 or first == 0
    is_end = line_end >= 0 or len(after) < _LONGEST
    if is_start and is_end:
        lead = before[line_start:].decode("utf-8", "replace")
        tail = after[: line_end if line_end >= 0 else None].decode("utf-8", "replace")
        if _is_object(lead, tail):
            return _marked(lead, tail, mark, place.line, is_object=True)
    return _lines_around(before, after, mark, place.line)


def _agrees(before: bytes, after: bytes, excerpt: Excerpt) -> bool:
    """Tell whether the excerpt is what stands at a place."""
    lead = excerpt.text[: excerpt.start].removeprefix(_CUT)[-_COMPARED:]
    rest = excerpt.text[excerpt.start :][:_COMPARED].removesuffix(_CUT)
    tail = after[: 8 * _COMPARED].decode("utf-8", "replace")
    head = before[-8 * _COMPARED :].decode("utf-8", "replace")
    return tail.startswith(rest) and head.endswith(lead)


def _is_object(lead: str, tail: str) -> bool:
    """Tell whether a line looks like one JSON object, maybe with a comma behind it."""
    return (lead or tail).lstrip("\ufeff \t[,").startswith("{") and tail.rstrip(
        " \t\r,]"
    ).endswith("}")


def _lines_around(before: bytes, after: bytes, mark: str, line: int) -> RecordText:
    """Return some lines before and behind the line of a value."""
    leads = before[-_AROUND:].split(b"\n")[-_LINES - 1 :]
    tails = after[:_AROUND].split(b"\n")[: _LINES + 1]
    lead = b"\n".join(leads).decode("utf-8", "replace")
    tail = b"\n".join(tails).decode("utf-8", "replace")
    return _marked(lead, tail, mark, line - len(leads) + 1, is_object=False)


def _marked(
    lead: str, tail: str, mark: str, first_line: int, *, is_object: bool
) -> RecordText:
    end = len(lead) + max(1, min(len(mark.removesuffix(_CUT)), len(tail)))
    return RecordText(lead + tail, len(lead), end, first_line, is_object)
