"""Faults of strings in JSON text."""

import re

from harpia_formats.files.parsing.json_fault import (
    Fault,
    FaultKind,
    end_of_character,
    printable_character,
    truncated,
)

#: The beginning of an escape, or of two that make one character.
_cut_escape = re.compile(
    rb"(?:\\(?:u(?:[0-9A-Fa-f]{0,3}|[dD][89abAB][0-9A-Fa-f]{2}"
    rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?)?)?)?"
)
_surrogate = re.compile(rb"\\u[dD](?:([89abAB])|[c-fC-F])[0-9A-Fa-f]{2}")
#: The short escapes of control characters.
_short_escapes = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


def string_fault(text: bytes, start: int, at: int) -> Fault:
    """Return why the string that begins at `start` cannot go on at `at`."""
    rest = text[at : at + 12]  # two \u escapes
    if at + len(rest) == len(text) and _cut_escape.fullmatch(rest):
        return truncated(text, "a string", start, '"')
    if not rest.startswith(b"\\"):
        return _control_character(text[at], at)
    if surrogate := _surrogate.match(rest):
        return _lone_surrogate(at, is_first_half=surrogate[1] is not None)
    if rest.startswith(b"\\u"):
        message, help_ = "\\u needs four hexadecimal digits", "write all four digits"
        return Fault(FaultKind.SYNTAX, at, at + 2, message, help_)
    character = printable_character(text, at + 1)
    message = f"a backslash before {character} is not an escape in JSON"
    help_ = "write ' alone" if rest[1:2] == b"'" else "write \\\\ for a backslash"
    return Fault(FaultKind.SYNTAX, at, end_of_character(text, at + 1), message, help_)


def _control_character(code: int, at: int) -> Fault:
    """Return the fault that the control character `code` stands in a string."""
    message = f"the control character U+{code:04X} stands unescaped in a string"
    help_ = "write " + _short_escapes.get(code, f"\\u{code:04x}")
    if code in b"\r\n":
        help_ += ", or close the string before the line ends"
    return Fault(FaultKind.CONTROL, at, at + 1, message, help_)


def _lone_surrogate(at: int, *, is_first_half: bool) -> Fault:
    """Return the fault that the escape at `at` is half of a surrogate pair."""
    if is_first_half:
        message = "the first half of a surrogate pair has no second half"
    else:
        message = "the second half of a surrogate pair has no first half"
    help_ = "write both halves, or the character itself"
    return Fault(FaultKind.SURROGATE, at, at + 6, message, help_)
