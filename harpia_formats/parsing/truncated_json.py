"""What a JSON document holds, as far as its beginning tells."""

import re
from typing import Any

import msgspec

from harpia_formats.framing.chunk import JSON_SPACE
from harpia_formats.framing.next_value import ValueState, read_value

#: Levels down to which a value that is cut off is looked into.
DEPTH = 8
#: Items of an array that is cut off, and members of an object, that are looked at.
ITEMS = 1_000

_decode = msgspec.json.Decoder().decode
_not_json = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_word = re.compile(rb"[A-Za-z0-9+.-]++")
#: What stands for nothing at all.
_NOTHING = object()


def parse_truncated(data: bytes) -> Any:
    """Return the value that `data` begins with, arrays and objects cut short.

    What is broken or not there yet is left out; None if nothing can be told.
    """
    value, _ = _sketch(data, _behind_space(data, 0), DEPTH)
    return None if value is _NOTHING else value


def _sketch(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value at `at`, and where what follows it begins."""
    state, end = read_value(data, at)
    if state in {ValueState.ENDED, ValueState.WHOLE}:
        value = _value(data[at:end])
        if value is not _NOTHING or not depth:
            return value, end
    byte = data[at : at + 1]
    if depth and byte == b"[":
        return _array(data, at + 1, depth - 1)
    if depth and byte == b"{":
        return _object(data, at + 1, depth - 1)
    # A bare word that is not JSON is passed over; in text its end cannot be told.
    word = _word.match(data, at)
    return _NOTHING, _behind_space(data, word.end()) if word else len(data)


def _value(text: bytes) -> Any:
    try:
        return _decode(text)
    except _not_json:
        return _NOTHING


def _array(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """Return the items from `at` on, and where what follows the array begins."""
    items: list[Any] = []
    while len(items) < ITEMS:
        at = _behind_space(data, at)
        if data[at : at + 1] == b"]":
            return items, _behind_space(data, at + 1)
        value, at = _sketch(data, at, depth)
        # An item that is cut off tells little where there are whole ones.
        if value is not _NOTHING and not (items and at == len(data)):
            items.append(value)
        if data[at : at + 1] != b",":
            break
        at += 1
    return items, at if data[at : at + 1] != b"]" else _behind_space(data, at + 1)


def _object(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Return the members from `at` on, and where what follows the object begins."""
    members: dict[str, Any] = {}
    for _ in range(ITEMS):
        at = _behind_space(data, at)
        key, at = _sketch(data, at, 0)
        if not isinstance(key, str) or data[at : at + 1] != b":":
            break
        value, at = _sketch(data, _behind_space(data, at + 1), depth)
        members[key] = None if value is _NOTHING else value
        if data[at : at + 1] != b",":
            break
        at += 1
    if data[at : at + 1] != b"}":
        return members, len(data)
    return members, _behind_space(data, at + 1)


def _behind_space(data: bytes, at: int) -> int:
    while data[at : at + 1] and data[at] in JSON_SPACE:
        at += 1
    return at
