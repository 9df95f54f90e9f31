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

from harpia_formats.framing.limits import DEPTH_LIMIT
from harpia_formats.model.problem import Path
from harpia_formats.parsing import json_errors as fault
from harpia_formats.parsing.json_errors import Fault, FaultKind

__all__ = [
    "DEPTH_LIMIT",
    "Duplicate",
    "Fault",
    "FaultKind",
    "Span",
    "duplicates",
    "entries",
    "find_fault",
    "locate",
]

#: Bytes of the longest integer that the parser keeps.
_INTEGER_LIMIT = 4300

_OBJECT, _QUOTE = b'{"'

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
_NAME = _STRING + _WS + rb":" + _WS
# Values that need no closer look.  Numbers that surely fit have at most 200 digits
# before the point and two in the exponent.
_PLAIN = (
    rb"(" + _STRING + rb"|(?:true|false|null"
    rb"|-?(?:0|[1-9][0-9]{0,199}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,2}+)?"
    rb")(?=[ \t\n\r,\]}]))?"
)
# One step inside a container, from behind its opening bracket or an entry: behind
# its closing bracket (group 1), behind a plain value (group 2), or up to a value
# that needs a closer look.
_NEXT = _WS + rb"," + _WS
_IN_ARRAY = re.compile(
    _WS + rb"(\])|(?:(?<=\[)" + _WS + rb"|(?<!\[)" + _NEXT + rb")" + _PLAIN
)
_IN_OBJECT = re.compile(
    _WS + rb"(\})|(?:(?<=\{)" + _WS + rb"|(?<!\{)" + _NEXT + rb")" + _NAME + _PLAIN
)
_SPACE = re.compile(_WS)
_CHARACTERS_OF_STRING = re.compile(_CHARACTERS)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_MORE_NUMBER = re.compile(rb"[-+.\w]")
_WORD = re.compile(rb"(?:true|false|null)(?!\w)")

# These serve texts that are known to be valid, so they need not be strict.
_ANY_CHARACTERS = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+){0,200}')
_UNSTRUCTURED = re.compile(rb'[^"{}\[\]]*+')
_WITHOUT_BRACKETS = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,200}')
_SIMPLE_MEMBER = re.compile(
    rb'[ \t\n\r,]*+("[^"\\]*+")'
    + _WS
    + rb":"
    + _WS
    + rb'(?:"[^"\\]*+"|[^ \t\n\r,"{}\[\]]*+)'
)
_SEPARATORS = re.compile(rb"[ \t\n\r,]*+")
_COLON = re.compile(_WS + rb":")
_BARE = re.compile(rb"[^ \t\n\r,\]}]*+")

#: Both ends of a member's name, if it has one, and the start of its value.
_Entry = tuple[int | None, int | None, int]


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


@dataclass(slots=True)
class _Open:
    """A container that is being read."""

    is_object: bool
    #: Name of the last member, in an object.
    name: str = ""
    #: Index of the last item, in an array.
    index: int = 0
    #: Where each name was first.
    names: dict[str, int] = field(default_factory=dict)

    @property
    def step(self) -> str | int:
        """The step of a path to the entry that is being read."""
        return self.name if self.is_object else self.index


def find_fault(text: bytes, *, depth_limit: int = DEPTH_LIMIT) -> Fault | None:
    """Return the first fault of `text`, none if it is one JSON value.

    What has no fault is what `msgspec.json.decode` accepts, as far as `depth_limit`
    levels of arrays and objects.
    """
    return fault.first_fault(text, _grammar_fault(text, depth_limit))


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
    if number.lastindex is None:
        if _is_too_long(number[0]):
            return fault.range_fault(at, end, is_integer=True)
    # The parser rounds as float does: 1e-400 is 0.0, and 0e999 does not overflow.
    elif math.isinf(float(number[0])):
        return fault.range_fault(at, end, is_integer=False)
    return end


def _is_too_long(integer: bytes) -> bool:
    """Return whether the parser refuses `integer` for its length.

    Its own limit counts the minus sign; that of the interpreter, which can be set
    lower, counts digits.
    """
    digit_limit = sys.get_int_max_str_digits()
    digits = len(integer.lstrip(b"-"))
    return len(integer) > _INTEGER_LIMIT or 0 < digit_limit < digits


def locate(text: bytes, path: Path) -> Span:
    """Return where the value at `path` is in the valid JSON `text`.

    Of members with the same name the last one counts, as it does for the parser.

    Raises KeyError if there is no such value.
    """
    found = None
    for each in _candidates(text, path):
        found = each
    if found is None:
        raise KeyError(path)
    return found


def _candidates(text: bytes, path: Path) -> Iterator[Span | None]:
    """Yield the values at `path` in turn, and None where a member voids the last.

    All of the text is read once, however deep the path and whatever is repeated.
    """
    opened: list[_Open] = []
    entry: _Entry | None = (None, None, _skip_space(text, 0))
    while entry:
        key, key_end, at = entry
        if len(opened) < len(path) and text[at] in b"{[":
            yield None
            opened.append(_Open(is_object=text[at] == _OBJECT))
            at += 1
        else:
            end = _end_of_value(text, at)
            yield Span(key, key_end, at, end) if len(opened) == len(path) else None
            at = end
        entry = _next_on(path, text, at, opened)


def _next_on(path: Path, text: bytes, at: int, opened: list[_Open]) -> _Entry | None:
    """Return the next entry whose place is the beginning of `path`, or `path`."""
    while opened:
        ahead = _end_of(_SEPARATORS, text, at)
        if text[ahead] in b"}]":
            opened.pop()
            at = ahead + 1
            continue
        inner = opened[-1]
        inner.index += text.count(b",", at, ahead)
        entry = _entry(text, ahead, inner)
        if inner.step == path[len(opened) - 1]:
            return entry
        at = _end_of_value(text, entry[2])
    return None


def _entry(text: bytes, at: int, inner: _Open) -> _Entry:
    """Return the entry of `inner` at `at`, and keep the name of a member."""
    if not inner.is_object:
        return None, None, at
    end = _end_of_any_string(text, at)
    inner.name = _decoded(text, at, end)
    return at, end, _skip_space(text, _end_of(_COLON, text, end))


def entries(text: bytes, start: int) -> Iterator[tuple[str | int, Span]]:
    """Yield the members or items of the value at `start` of the valid JSON `text`.

    A scalar has none.
    """
    if text[start] not in b"{[":
        return
    inner = _Open(is_object=text[start] == _OBJECT)
    at = _end_of(_SEPARATORS, text, start + 1)
    while text[at] not in b"}]":
        key, key_end, begin = _entry(text, at, inner)
        end = _end_of_value(text, begin)
        yield inner.step, Span(key, key_end, begin, end)
        at = _end_of(_SEPARATORS, text, end)
        inner.index += 1


def duplicates(text: bytes) -> Iterator[Duplicate]:
    """Yield every repeated member name in the valid JSON `text`, in order.

    Names are equal if they are so after unescaping.
    """
    opened: list[_Open] = []
    at = 0
    while at < len(text):
        if opened and opened[-1].is_object:
            while member := _SIMPLE_MEMBER.match(text, at):
                at = member.end()
                yield from _repeated(text, member.start(1), member.end(1), opened)
        ahead = _end_of(_UNSTRUCTURED, text, at)
        if opened:
            opened[-1].index += text.count(b",", at, ahead)
        at = _end_of_token(text, ahead, opened)
        if text[ahead : ahead + 1] == b'"' and _COLON.match(text, at):
            yield from _repeated(text, ahead, at, opened)


def _end_of_token(text: bytes, at: int, opened: list[_Open]) -> int:
    """Return the end of the string or bracket at `at`, if the text goes so far."""
    token = text[at : at + 1]
    if token == b'"':
        return _end_of_any_string(text, at)
    if token in (b"{", b"["):
        opened.append(_Open(is_object=token == b"{"))
    elif token:
        opened.pop()
    return at + 1


def _repeated(
    text: bytes, start: int, end: int, opened: list[_Open]
) -> Iterator[Duplicate]:
    """Yield the name from `start` to `end` if its object has it already."""
    inner = opened[-1]
    inner.name = _decoded(text, start, end)
    first = inner.names.setdefault(inner.name, start)
    if first != start:
        yield Duplicate(tuple(each.step for each in opened), first, start, end)


def _end_of_value(text: bytes, start: int) -> int:
    """Return the end of the value at `start`, known to be valid."""
    if text[start] == _QUOTE:
        return _end_of_any_string(text, start)
    if text[start] not in b"{[":
        return _end_of(_BARE, text, start)
    depth, at = 1, start + 1
    while depth:
        at = _end_of(_WITHOUT_BRACKETS, text, at)
        if text[at] == _QUOTE:
            at = _end_of_any_string(text, at)
        else:
            depth += 1 if text[at] in b"{[" else -1
            at += 1
    return at


def _end_of_any_string(text: bytes, start: int) -> int:
    """Return the end of the string at `start`, known to be valid."""
    at = start + 1
    while text[at] != _QUOTE:
        at = _end_of(_ANY_CHARACTERS, text, at)
    return at + 1


def _decoded(text: bytes, start: int, end: int) -> str:
    """Return the string from `start` to `end`."""
    if text.find(b"\\", start, end) < 0:
        return text[start + 1 : end - 1].decode()
    return msgspec.json.decode(text[start:end], type=str)


def _skip_space(text: bytes, at: int) -> int:
    """Return where the white space at `at` ends."""
    return _end_of(_SPACE, text, at)


def _end_of(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Return the end of what matches `pattern` at `at`; `at` itself if nothing."""
    match = pattern.match(text, at)
    return match.end() if match else at
