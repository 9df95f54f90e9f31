"""Find the first fault of a JSON text, with its place.

The parser decides fast and reports no places; what it refuses is read again here. Runs
of bytes are left to regular expressions, and nesting to a list, so that the work grows
with the number of tokens and the stack does not grow.
"""

import math
import re
import sys
from functools import cache

from harpia_formats.files.framing.limits import DEPTH_LIMIT
from harpia_formats.files.parsing.json_fault import Fault
from harpia_formats.files.parsing.json_number_faults import number_fault, range_fault
from harpia_formats.files.parsing.json_string_faults import string_fault
from harpia_formats.files.parsing.json_structure_faults import (
    colon_fault,
    comma_fault,
    name_fault,
    nesting_fault,
    rest_fault,
    value_fault,
)
from harpia_formats.files.parsing.json_tokens import SPACE_PATTERN, end_of, skip_space
from harpia_formats.files.parsing.utf8_faults import first_fault

#: Bytes of the longest integer that the parser keeps.
_INTEGER_LIMIT = 4300

_BRACE = ord("{")
_WS = SPACE_PATTERN

# The parser allows DEL and \u0000, and half a surrogate pair only beside the other.
_ESCAPE = (
    rb'\\(?:["\\/bfnrt]|u(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD](?:[0-7][0-9a-fA-F]{2}'
    rb"|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))"
)
# The engine keeps every round of a group in memory, so one match has few rounds, and
# a long string is matched in several steps.
_CHARACTERS = rb'[^"\\\x00-\x1f]*+(?:' + _ESCAPE + rb'[^"\\\x00-\x1f]*+){0,200}'
_STRING = rb'"' + _CHARACTERS + rb'"'
_NAME = _STRING + _WS + rb":" + _WS
# Values that are accepted at once. Numbers that surely fit have at most 200 digits
# before the point and two in the exponent.
_PLAIN = (
    rb"(" + _STRING + rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}]))?"
)
# One step inside a container, from behind its opening bracket or an entry: behind
# its closing bracket (group 1), behind a plain value (group 2), or up to a value that
# is not plain.
_NEXT = _WS + rb"," + _WS
_IN_ARRAY = re.compile(
    _WS + rb"(\])|(?:(?<=\[)" + _WS + rb"|(?<!\[)" + _NEXT + rb")" + _PLAIN
)
_IN_OBJECT = re.compile(
    _WS + rb"(\})|(?:(?<=\{)" + _WS + rb"|(?<!\{)" + _NEXT + rb")" + _NAME + _PLAIN
)
# Behind an entry: further entries, of which each is plain, or an array or object of at
# most two levels that has only plain values in it. They are passed over at once.
_PassedOver = tuple[re.Pattern[bytes], re.Pattern[bytes]]
#: Bytes of a text that is long enough for it.
_LONG = 1000
_SURE = _STRING + (
    rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}])"
)


def _container_of(values: bytes) -> bytes:
    """Return the expression for a value, an array or an object of `values`."""
    members = rb"(?:%b%b(?:,%b(?=\")|(?=\})))" % (_NAME + values, _WS, _WS)
    items = rb"(?:%b%b(?:,%b(?!\])|(?=\])))" % (values, _WS, _WS)
    object_ = rb"\{%b%b{0,50}+\}" % (_WS, members)
    array = rb"\[%b%b{0,50}+\]" % (_WS, items)
    return rb"(?>%b|%b|%b)" % (_SURE, object_, array)


_LEVELS = 2


@cache
def _passed_over() -> _PassedOver:
    """Return the expressions for further members of an object, and items of an array.

    They are compiled late: it takes some milliseconds.
    """
    shallow = _container_of(_container_of(rb"(?>" + _SURE + rb")"))
    members = re.compile(rb"(?:" + _NEXT + _NAME + shallow + rb"){1,50}+")
    return members, re.compile(rb"(?:" + _NEXT + shallow + rb"){1,50}+")


_CHARACTERS_OF_STRING = re.compile(_CHARACTERS)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_MORE_NUMBER = re.compile(rb"[-+.\w]")
_WORD = re.compile(rb"(?:true|false|null)(?!\w)")


def find_fault(text: bytes, *, depth_limit: int = DEPTH_LIMIT) -> Fault | None:
    """Return the first fault of `text`, None if it is one JSON value.

    A text has no fault if and only if `msgspec.json.decode` accepts it and it has at
    most `depth_limit` levels of arrays and objects.
    """
    return first_fault(text, _grammar_fault(text, depth_limit))


def _grammar_fault(text: bytes, depth_limit: int) -> Fault | None:
    """Return the first fault of `text` that is not one of its encoding."""
    opened: list[int] = []
    runs = _passed_over() if len(text) >= _LONG else None
    most = depth_limit - _LEVELS
    at: int | Fault = skip_space(text, 0)
    while not isinstance(at, Fault):
        if text[at : at + 1] in (b"{", b"["):
            if len(opened) == depth_limit:
                return nesting_fault(at, depth_limit)
            opened.append(at)
            at += 1
        else:
            at = _end_of_scalar(text, at, opened[-1] if opened else None)
        if not isinstance(at, Fault):
            at = _next_value(text, at, opened, runs if len(opened) <= most else None)
        if not opened and not isinstance(at, Fault):
            return rest_fault(text, at) if at < len(text) else None
    return at


def _next_value(
    text: bytes, at: int, opened: list[int], runs: _PassedOver | None
) -> int | Fault:
    """Return where the next value begins that is not plain, and close containers.

    Behind the outermost value `opened` is empty, and the offset of the rest of the
    text is returned. `runs` pass over several entries at once, if that is allowed.
    """
    while opened:
        in_object = text[opened[-1]] == _BRACE
        if runs is not None and at != opened[-1] + 1:
            more = runs[0 if in_object else 1].match(text, at)
            at = more.end() if more else at
        step = (_IN_OBJECT if in_object else _IN_ARRAY).match(text, at)
        if step is None:
            return _next_entry(text, at, opened[-1])
        at = step.end()
        if step.lastindex is None:
            return at
        if step.lastindex == 1:
            opened.pop()
    return skip_space(text, at)


def _next_entry(text: bytes, at: int, opened: int) -> int | Fault:
    """Return where the value of the next entry begins, or its fault."""
    start = skip_space(text, at)
    if at != opened + 1:
        if text[start : start + 1] != b",":
            return comma_fault(text, start, opened)
        start = skip_space(text, start + 1)
    if text[start : start + 1] != b'"':
        return name_fault(text, start, opened)
    end = _end_of_string(text, start)
    if isinstance(end, Fault):
        return end
    colon = skip_space(text, end)
    if text[colon : colon + 1] != b":":
        return colon_fault(text, colon, opened)
    return skip_space(text, colon + 1)


def _end_of_scalar(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the string, number or word at `at`, or its fault."""
    first = text[at : at + 1]
    if first == b'"':
        return _end_of_string(text, at)
    if first and first in b"-0123456789":
        return _end_of_number(text, at, opened)
    word = _WORD.match(text, at)
    return word.end() if word else value_fault(text, at, opened)


def _end_of_string(text: bytes, start: int) -> int | Fault:
    """Return the end of the string at `start`, or its fault."""
    at, end = start, start + 1
    while at < end:
        at, end = end, end_of(_CHARACTERS_OF_STRING, text, end)
    if text[at : at + 1] == b'"':
        return at + 1
    return string_fault(text, start, at)


def _end_of_number(text: bytes, at: int, opened: int | None) -> int | Fault:
    """Return the end of the number at `at`, or its fault."""
    number = _NUMBER.match(text, at)
    if number is None or _MORE_NUMBER.match(text, number.end()):
        return number_fault(text, at, opened)
    end = number.end()
    if number.lastindex is None:
        if _is_too_long(number[0]):
            return range_fault(at, end, is_integer=True)
    # The parser rounds as float does: 1e-400 is 0.0, and 0e999 does not overflow.
    elif math.isinf(float(number[0])):
        return range_fault(at, end, is_integer=False)
    return end


def _is_too_long(integer: bytes) -> bool:
    """Tell whether the parser refuses `integer` because of its length.

    Its own limit counts the minus sign; that of the interpreter, which can be set
    lower, counts digits.
    """
    digit_limit = sys.get_int_max_str_digits()
    digits = len(integer.lstrip(b"-"))
    return len(integer) > _INTEGER_LIMIT or 0 < digit_limit < digits
