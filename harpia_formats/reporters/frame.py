"""The piece of a line around a problem, with carets under what is meant."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate

from harpia_formats.model.problem import Excerpt
from harpia_formats.text.sanitize import escaped


def columns(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    return sum(map(_columns_of, text))


def frame(excerpt: Excerpt, room: int) -> tuple[str, str]:
    """Return the text of `excerpt` in `room` columns, and the carets below it."""
    before, marked, after = _parts(excerpt, room)
    marked = _head(marked, room)
    rest = room - columns(marked)
    after = _head(after, max(rest - columns(before), rest // 2))
    before = _tail(before, rest - columns(after))
    carets = "^" * max(1, columns(marked))
    return before + marked + after, " " * columns(before) + carets


def _columns_of(character: str) -> int:
    """Return 2 for a wide character, 0 for a combining one, else 1."""
    if character.isascii():
        return 1
    # Korean vowels and finals that join the syllable before them are letters.
    if "\u1160" <= character <= "\u11ff":
        return 0
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _parts(excerpt: Excerpt, room: int) -> tuple[str, str, str]:
    """Return what is before, in and after the mark, escaped and not much over `room`.

    The text is escaped as one, because what makes it unsafe may span two parts.
    """
    first = max(0, excerpt.start - room - 1)
    last = min(excerpt.end, excerpt.start + room + 1)
    text = excerpt.text[first : last + room + 1]
    shown = escaped(text)
    start = len(shown) - len(escaped(text[excerpt.start - first :]))
    end = len(shown) - len(escaped(text[last - first :]))
    return shown[:start], shown[start:end], shown[end:]


def _head(text: str, room: int) -> str:
    """Return the start of `text` that fits into `room` columns."""
    if columns(text) <= room:
        return text
    if room < 1:
        return ""
    ends = list(accumulate(map(_columns_of, text)))
    return text[: bisect_right(ends, room - 1)] + "…"


def _tail(text: str, room: int) -> str:
    """Return the end of `text` that fits into `room` columns."""
    return _head(text[::-1], room)[::-1]
