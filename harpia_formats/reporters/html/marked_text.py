"""Texts of data as lines with a marked part, short enough to be read."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from harpia_formats.model.text.sanitize import escaped
from harpia_formats.reporters.html.record_text import RecordText

#: Lines of a record that are shown: at its beginning, and on each side of the mark.
_HEAD, _SIDE = 8, 14
#: Code points of a part of a line that is not shortened, and what is left if it is.
_PLAIN, _START, _END = 180, 110, 50
_MARKED, _MARKED_START = 400, 360
#: The deepest indentation, in levels.
_DEEPEST = 16
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]+|\s+', re.DOTALL)


@dataclass(slots=True)
class _Line:
    """One line: its number in the file, if it has one, and its parts."""

    number: int | None = None
    indent: int = 0
    #: Texts, each with whether it is marked.
    parts: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def is_marked(self) -> bool:
        return any(marked for _, marked in self.parts)


def marked_markup(before: str, marked: str, after: str) -> Markup:
    """Return three parts of a line, the second one in a mark element."""
    return Markup("{}<mark>{}</mark>{}").format(*map(_visible, (before, marked, after)))


def record_markup(record: RecordText) -> Markup:
    """Return the lines of a record or file, those of an object one for each member.

    Numbers and texts stay as they are written; long ones are shortened, and so are
    records with many lines.
    """
    if record.is_object:
        lines = list(_object_lines(record))
    else:
        lines = list(_file_lines(record))
    return Markup("\n").join(_shown_lines(lines))


def _shown_lines(lines: list[_Line]) -> Iterator[Markup]:
    """Yield the lines at the beginning and around the mark, and what is left out."""
    at = next((place for place, line in enumerate(lines) if line.is_marked), 0)
    last = -1
    for place, line in enumerate(lines):
        if place >= _HEAD and abs(place - at) > _SIDE:
            continue
        if place > last + 1:
            yield _left_out(place - last - 1)
        last = place
        yield _line_markup(line)
    if last + 1 < len(lines):
        yield _left_out(len(lines) - last - 1)


def _left_out(count: int) -> Markup:
    lines = "line" if count == 1 else "lines"
    return Markup('<i class="cut">… {} {} not shown</i>').format(f"{count:,}", lines)


def _line_markup(line: _Line) -> Markup:
    number = (
        Markup("") if line.number is None else Markup("<b>{}</b> ").format(line.number)
    )
    body = Markup("").join(_part(text, marked=marked) for text, marked in line.parts)
    indent = "  " * min(line.indent, _DEEPEST)
    return number + escape(indent) + body


def _part(text: str, *, marked: bool) -> Markup:
    if marked:
        return Markup("<mark>{}</mark>").format(_cut(text, _MARKED, _MARKED_START, 0))
    return _cut(text, _PLAIN, _START, _END)


def _cut(text: str, limit: int, start: int, end: int) -> Markup:
    if len(text) <= limit:
        return _visible(text)
    more = f"… {len(text) - start - end:,} characters …"
    return (
        _visible(text[:start])
        + Markup('<i class="cut">{}</i>').format(more)
        + (_visible(text[len(text) - end :]) if end else Markup(""))
    )


def _visible(text: str) -> Markup:
    """Return text as markup, with characters that would not be visible as escapes."""
    return escape(escaped(text))


def _split(text: str, start: int, record: RecordText) -> Iterable[tuple[str, bool]]:
    """Yield the parts of a text at `start` of a record: before, in, behind the mark."""
    first = min(max(record.start - start, 0), len(text))
    last = min(max(record.end - start, 0), len(text))
    for part, marked in (
        (text[:first], False),
        (text[first:last], True),
        (text[last:], False),
    ):
        if part:
            yield part, marked


def _file_lines(record: RecordText) -> Iterator[_Line]:
    """Yield the lines as they are in the file, with their numbers."""
    at = 0
    for number, text in enumerate(record.text.split("\n"), record.first_line):
        yield _Line(number, 0, list(_split(text.rstrip("\r"), at, record)))
        at += len(text) + 1


def _object_lines(record: RecordText) -> Iterator[_Line]:
    """Yield a line for each member and item of a JSON text, which may be broken."""
    line, depth, previous = _Line(), 0, ""
    for found in _PIECES.finditer(record.text):
        piece = found[0]
        if piece.isspace() and not _overlaps(found, record):
            continue
        closes = piece in "}]"
        depth -= closes and depth > 0
        starts_line = (previous == "," or (previous in {"{", "["} and not closes)) or (
            closes and previous not in {"{", "["}
        )
        if starts_line and line.parts:
            yield line
            line = _Line(None, depth)
        if previous == ":":
            line.parts.append((" ", False))
        line.parts.extend(_split(piece, found.start(), record))
        depth += piece in "{["
        previous = piece
    yield line


def _overlaps(found: re.Match[str], record: RecordText) -> bool:
    return found.start() < record.end and found.end() > record.start
