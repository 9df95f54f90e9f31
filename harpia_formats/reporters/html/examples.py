"""Examples of findings with their texts, as many as an HTML report has room for."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from markupsafe import Markup, escape

from harpia_formats.model.problem import Excerpt, Place, Problem
from harpia_formats.model.safe_text import digits, escaped, safe
from harpia_formats.reporters.full import excerpt_parts
from harpia_formats.reporters.html.page import Room, macro
from harpia_formats.reporters.phrases import dotted_path, position

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


#: Bytes of all examples without the texts of their records, and of these texts.
_EXAMPLES, _RECORDS = 200_000, 250_000
#: Texts of records that are read; the others have their excerpt only.
_READ = 400
#: Code points of a frame, an id, a message and a reason.
_FRAME, _ID, _MESSAGE, _REASON = 160, 80, 500, 200


class Examples:
    """Renders examples while there is room, and counts those that it leaves out."""

    def __init__(self) -> None:
        self._room, self._records = Room(_EXAMPLES), Room(_RECORDS)
        self._reads = 0
        #: Why texts of records are not shown, with the number of examples.
        self.reasons: dict[str, int] = {}

    @property
    def cut(self) -> int:
        """Examples that are not on the page, since it has no room for them."""
        return self._room.cut

    def of_fields(
        self, problems: Sequence[Sequence[Problem]], messages: Sequence[str]
    ) -> list[list[Markup]]:
        """Return the examples of each field; each has one before any has two.

        An example does not repeat the one of `messages` that its field has.
        """
        found: list[list[Markup]] = [[] for _ in problems]
        one_example = macro("finding.html", "example")
        for turn in zip_longest(*problems):
            for at, problem in enumerate(turn):
                if problem is None:
                    continue
                if self._room.cut:
                    self._room.cut += 1
                    continue
                piece = one_example(_View(problem, messages[at]), frame_markup(problem))
                if self._room.takes(piece):
                    found[at].append(self._with_record(piece, problem))
        return found

    def _with_record(self, piece: Markup, problem: Problem) -> Markup:
        """Return an example with the text of its record, if there is room for it."""
        record = self._record(problem)
        whole: Markup = macro("finding.html", "whole_example")(piece, record)
        return whole

    def _record(self, problem: Problem) -> Markup:
        """Return the text around a problem in an element to open, or nothing."""
        if self._reads >= _READ or self._records.cut:
            return self._without("the page has no room for them")
        self._reads += 1
        text = read_record_text(problem)
        if isinstance(text, str):
            return self._without(text)
        place = problem.place
        piece: Markup = macro("finding.html", "record")(
            record_name(place)
            if text.is_object
            else f"Lines around line {place.line:,}",
            record_markup(text),
        )
        if not self._records.takes(piece):
            return self._without("the page has no room for them")
        return piece

    def _without(self, reason: str) -> Markup:
        if reason:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        return Markup("")


class _View:
    """What the template shows of a problem."""

    def __init__(self, problem: Problem, message: str) -> None:
        place = problem.place
        self.place = position(place.full_path, place.line, place.column)
        self.record = "" if place.record is None else record_name(place)
        self.message = (
            "" if problem.message == message else safe(problem.message, _MESSAGE)
        )
        self.help = safe(problem.help, _MESSAGE)
        self.because = [
            (
                safe(dotted_path(one.pointer), _REASON),
                safe(one.value, _REASON),
                f"{one.path}:{one.line}:{one.column}".lstrip(":"),
            )
            for one in problem.because
        ]


def record_name(place: Place) -> str:
    """Return the number and the id of a record."""
    if place.record is None:
        return f"Line {place.line:,}"
    number = f"Record {place.record:,}"
    if place.record_id is None:
        return number
    key = safe(place.record_id_key or "id", _ID)
    if isinstance(place.record_id, str):
        return f'{number}, {key} "{safe(place.record_id, _ID)}"'
    return f"{number}, {key} {safe(digits(place.record_id), _ID)}"


def place_markup(place: Place | None) -> Markup:
    """Return a place with the number and id of its record, "" for none."""
    if place is None:
        return Markup("")
    found: Markup = macro("finding.html", "place")(
        position(place.full_path, place.line, place.column),
        "" if place.record is None else record_name(place),
    )
    return found


def frame_markup(problem: Problem) -> Markup:
    """Return the line of a problem with its value marked, "" if it has no line."""
    excerpt = problem.excerpt
    if excerpt is None:
        return Markup("")
    before, marked, after = excerpt_parts(excerpt, _FRAME)
    before = f"…{before[1 - _FRAME :]}" if len(before) > _FRAME else before
    after = f"{after[: _FRAME - 1]}…" if len(after) > _FRAME else after
    return marked_markup(before, marked[:_FRAME] or " ", after)
