"""Examples of findings with their texts, as many as an HTML report has room for."""

from collections.abc import Sequence
from itertools import zip_longest

from markupsafe import Markup

from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.text.sanitize import digits, safe
from harpia_formats.reporters.frame import excerpt_parts
from harpia_formats.reporters.html.environment import macro
from harpia_formats.reporters.html.marked_text import marked_markup, record_markup
from harpia_formats.reporters.html.record_text import read_record_text
from harpia_formats.reporters.html.room import Room
from harpia_formats.reporters.text import dotted_path, position

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
