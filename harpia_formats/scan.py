"""Exact places in the bytes of one JSON text: of values, repeated names, faults.

The fast path parses in C and knows no places.  What it refuses, or what a finding
is about, is looked up here.  Runs of bytes are left to regular expressions, and
nesting to a list, so the work grows with the tokens and the stack does not.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from harpia_formats import fault
from harpia_formats.fault import Fault, FaultKind
from harpia_formats.problem import Path

__all__ = [
    "DEPTH_LIMIT",
    "Duplicate",
    "Fault",
    "FaultKind",
    "Span",
    "duplicates",
    "find_fault",
    "locate",
]

#: Arrays and objects inside each other that are accepted; parsers differ beyond it.
DEPTH_LIMIT = 200
#: Digits of the longest integer that the parser keeps.
_DIGIT_LIMIT = 4300

_OBJECT, _ARRAY, _QUOTE, _COLON, _COMMA = b'{[":,'

# The parser takes these four as white space and no others, not even a form feed.
_WS = rb"[ \t\n\r]*+"
# The parser allows DEL and \u0000, and half a surrogate pair only beside the other.
_ESCAPE = (
    rb'\\(?:["\\/bfnrt]|u(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD](?:[0-7][0-9a-fA-F]{2}'
    rb"|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))"
)
# The engine remembers every round of a group, so one match has few rounds, and
# whoever needs more comes back for them.
_CHARACTERS = rb'[^"\\\x00-\x1f]*+(?:' + _ESCAPE + rb'[^"\\\x00-\x1f]*+){0,200}'
_STRING = rb'"' + _CHARACTERS + rb'"'
# Numbers that surely fit: at most 200 digits and an exponent of two.
_PLAIN = (
    rb"(?:" + _STRING + rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}]))"
)
# One step inside a container, from behind its opening bracket or an entry: behind
# its closing bracket (group 1), behind a plain value (group 2), or up to a value
# that needs a closer look.
_IN_ARRAY = re.compile(
    _WS + rb"(\])|(?:(?<=\[)|" + _WS + rb",)" + _WS + rb"(" + _PLAIN + rb")?"
)
_IN_OBJECT = re.compile(
    _WS + rb"(\})|(?:(?<=\{)|" + _WS + rb",)" + _WS + _STRING + _WS + rb":" + _WS
    + rb"(" + _PLAIN + rb")?"
)
_SPACE = re.compile(_WS)
_CHARACTERS_OF_STRING = re.compile(_CHARACTERS)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_MORE_NUMBER = re.compile(rb"[-+.\w]")
_WORD = re.compile(rb"(?:true|false|null)(?!\w)")

# The rest serves texts that are known to be valid, so it need not be strict.
_ANY_CHARACTERS = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}')
_UNSTRUCTURED = re.compile(rb'[^"{}\[\]]*+')
_COLON_NEXT = re.compile(_WS + rb":")
_BARE = re.compile(rb"[^ \t\n\r,\]}]*+")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value is, in bytes from the start of the text."""

    #: Opening quotation mark of the member's name; none for the root and for items.
    key: int | None
    #: Behind the closing quotation mark.
    key_end: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A member name that its object already has, and where, in bytes."""

    path: Path
    #: Opening quotation mark of the first member of that name.
    first: int
    #: Opening quotation mark of this one.
    start: int
    #: Behind its closing quotation mark.
    end: int


def find_fault(text: bytes, *, depth_limit: int = DEPTH_LIMIT) -> Fault | None:
    """Return the first fault of `text`, none if it is one JSON value.

    What has no fault is what `msgspec.json.decode` accepts, as far as `depth_limit`
    levels of arrays and objects.
    """
    wrong = _grammar_fault(text, depth_limit)
    misencoded = fault.encoding_fault(text)
    if misencoded and (wrong is None or misencoded.start <= wrong.start):
        return misencoded
    return wrong


def _grammar_fault(text: bytes, depth_limit: int) -> Fault | None:
    """Return the first fault of `text` that is not one of its encoding."""
    opened: list[int] = []
    at: int | Fault = _skip_space(text, 0)
    while not isinstance(at, Fault):
        if text[at : at + 1] in (b"{", b"["):
            if len(opened) == depth_limit:
                return fault.nesting_fault(at, depth_limit)
            opened.append(at)
            at += 1
        else:
            at = _end_of_scalar(text, at, opened[-1] if opened else None)
        if not isinstance(at, Fault):
            at = _next_value(text, at, opened)
        if not opened and not isinstance(at, Fault):
            return fault.rest_fault(text, at) if at < len(text) else None
    return at


def _next_value(text: bytes, at: int, opened: list[int]) -> int | Fault:
    """Return where the next value begins that is not plain, and close what ends.

    At the end of the outermost value nothing is left open, and what is returned is
    where the rest of the text begins.
    """
    while opened:
        in_object = text[opened[-1]] == _OBJECT
        step = (_IN_OBJECT if in_object else _IN_ARRAY).match(text, at)
        if step is None:
            return _next_entry(text, at, opened[-1])
        at = step.end()
        if step.lastindex is None:
            return at
        if step.lastindex == 1:
            opened.pop()
    return _skip_space(text, at)


def _next_entry(text: bytes, at: int, opened: int) -> int | Fault:
    """Return where the value of the next entry begins, or why there is none."""
    start = _skip_space(text, at)
    if at != opened + 1:
        if text[start : start + 1] != b",":
            return fault.comma_fault(text, start, opened)
        start = _skip_space(text, start + 1)
    if text[start : start + 1] != b'"':
        return fault.name_fault(text, start, opened)
    end = _end_of_string(text, start)
    if isinstance(end, Fault):
        return end
    colon = _skip_space(text, end)
    if text[colon : colon + 1] != b":":
        return fault.colon_fault(text, colon, opened)
    return _skip_space(text, colon + 1)


def _end_of_scalar(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the string, number or word at `at`, or why it is none."""
    first = text[at : at + 1]
    if first == b'"':
        return _end_of_string(text, at)
    if first and first in b"-0123456789":
        return _end_of_number(text, at, opened)
    word = _WORD.match(text, at)
    return word.end() if word else fault.value_fault(text, at, opened)


def _end_of_string(text: bytes, start: int) -> int | Fault:
    """Return the end of the string at `start`, or why it has none."""
    at, end = start, start + 1
    while at < end:
        at, end = end, _end_of(_CHARACTERS_OF_STRING, text, end)
    if text[at : at + 1] == b'"':
        return at + 1
    return fault.string_fault(text, start, at)


def _end_of_number(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the number at `at`, or why it cannot be kept."""
    number = _NUMBER.match(text, at)
    if number is None or _MORE_NUMBER.match(text, number.end()):
        return fault.number_fault(text, at, opened)
    end = number.end()
    if number.lastindex:
        # The parser, too, rounds first: 1e-400 is 0.0, and 0e999 does not overflow.
        if math.isinf(float(number[0])):
            return fault.range_fault(at, end, digit_limit=None)
    # An interpreter can be set to keep fewer digits, and the parser obeys it.
    elif end - at > (limit := sys.get_int_max_str_digits() or _DIGIT_LIMIT):
        pass
    return end


def locate(text: bytes, path: Path) -> Span:
    """Return where the value at `path` is in the valid JSON `text`.

    Of members with the same name the last one counts, as for parsers.

    Raises KeyError if there is no such value.
    """
    raise KeyError
