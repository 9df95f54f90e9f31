"""Patterns and offsets of JSON tokens in bytes."""

import re

#: White space in JSON: the parser accepts these four characters, not a form feed.
SPACE_PATTERN = rb"[ \t\n\r]*+"
_space = re.compile(SPACE_PATTERN)


def skip_space(text: bytes, at: int) -> int:
    """Return the offset behind the white space at `at`."""
    return end_of(_space, text, at)


def end_of(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Return the offset behind the match of `pattern` at `at`; `at` if none."""
    match = pattern.match(text, at)
    return match.end() if match else at
