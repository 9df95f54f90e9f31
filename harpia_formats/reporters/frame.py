"""The part of a line around a problem, with carets (^) below the problem."""

from bisect import bisect_right
from itertools import accumulate

from harpia_formats.model.problem import Excerpt
from harpia_formats.model.text.columns import columns, columns_of
from harpia_formats.model.text.sanitize import escaped


def frame(excerpt: Excerpt, room: int) -> tuple[str, str]:
    """Return the text of an excerpt in `room` columns, and the carets below it."""
    before, marked, after = excerpt_parts(excerpt, room)
    marked = _start_of(marked, room)
    rest = room - columns(marked)
    after = _start_of(after, max(rest - columns(before), rest // 2))
    before = _end_of(before, rest - columns(after))
    carets = "^" * max(1, columns(marked))
    return before + marked + after, " " * columns(before) + carets


def excerpt_parts(excerpt: Excerpt, room: int) -> tuple[str, str, str]:
    """Return the text before, in and after the marked part, escaped.

    Each part is cut to little more than `room` characters. The text is escaped as a
    whole, because an unsafe sequence may span two parts.
    """
    first = max(0, excerpt.start - room - 1)
    last = min(excerpt.end, excerpt.start + room + 1)
    text = excerpt.text[first : last + room + 1]
    shown = escaped(text)
    start = len(shown) - len(escaped(text[excerpt.start - first :]))
    end = len(shown) - len(escaped(text[last - first :]))
    return shown[:start], shown[start:end], shown[end:]


def _start_of(text: str, room: int) -> str:
    """Return the start of `text` that fits into `room` columns."""
    if columns(text) <= room:
        return text
    if room < 1:
        return ""
    ends = list(accumulate(map(columns_of, text)))
    return text[: bisect_right(ends, room - 1)] + "…"


def _end_of(text: str, room: int) -> str:
    """Return the end of `text` that fits into `room` columns."""
    return _start_of(text[::-1], room)[::-1]
