"""NaN and Infinity outside of the strings of a JSON text, as Python's tools write them.

JSON has no such numbers. A dialect that says so has them read as null.
"""

import re
from collections.abc import Callable
from functools import cache

import stringzilla  # type: ignore[import-not-found]  # ships no types


@cache
def _constant() -> re.Pattern[bytes]:
    """Return the expression for what may be a constant, compiled when it is needed.

    It begins with letters, which are found many times as fast as by what stands before.
    """
    return re.compile(
        rb"NaN(?<![\w.+\"-]NaN)(?![\w.+\"-])"
        rb"|Infinity(?<![\w.+\"]Infinity)(?<![\w.+\"-]-Infinity)(?![\w.+\"-])"
    )


def may_have_constants(data: bytes) -> bool:
    """Tell whether a text may have a constant: whether it has these letters at all."""
    words = (b"NaN", b"Infinity")
    return any(stringzilla.find(data, word) >= 0 for word in words)


def constants_in(text: bytes) -> list[tuple[int, int]]:
    """Return where each constant outside of strings begins and ends in a JSON text."""
    found = []
    at, is_inside = 0, False
    for match in _constant().finditer(text):
        # What is outside of strings depends on the number of quotation marks.
        part = text[at : match.start()]
        if b"\\" in part:
            part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        is_inside ^= bool(part.count(b'"') & 1)
        at = match.start()
        if not is_inside:
            start, end = match.span()
            has_sign = text[start - 1 : start] == b"-"
            found.append((start - has_sign, end))
    return found


def masked(text: bytes) -> bytes:
    """Return a JSON text with a number of the same length for each constant.

    Rows are cut of it, and its faults have the places that they have in `text`.
    """
    return _replaced(text, lambda size: b"0." + b"0" * (size - 2))


def with_nulls(text: bytes) -> bytes:
    """Return a JSON text with null for each constant."""
    return _replaced(text, lambda _: b"null")


def _replaced(text: bytes, value_of: Callable[[int], bytes]) -> bytes:
    """Return `text` with other values for its constants, given the length of each."""
    if not may_have_constants(text):
        return text
    parts: list[bytes] = []
    at = 0
    for start, end in constants_in(text):
        parts += (text[at:start], value_of(end - start))
        at = end
    return b"".join((*parts, text[at:]))
