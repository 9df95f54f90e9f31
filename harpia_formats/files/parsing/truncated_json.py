"""Parse the beginning of a JSON document whose end is missing or not yet read."""

import re
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import JSON_SPACE
from harpia_formats.files.framing.next_value import ValueState, read_value
from harpia_formats.model.exact_json import NOT_JSON

#: Levels of arrays and objects that are cut off and still read.
DEPTH = 8
#: Items of an array, or members of an object, that is cut off and still read.
ITEMS = 1_000

_decode = msgspec.json.Decoder().decode
_word = re.compile(rb"[A-Za-z0-9+.-]++")
#: No value, which differs from null.
_NOTHING = object()


def parse_truncated(data: bytes) -> Any:
    """Return the value that `data` begins with, its arrays and objects cut short.

    Broken and missing parts are left out, and bytes that are not UTF-8 replaced; None
    if nothing is left.
    """
    value, _ = _parse(data, _skip_space(data, 0), DEPTH)
    return None if value is _NOTHING else value


def _parse(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value at `at`, and the offset of what follows it."""
    state, end = read_value(data, at)
    byte = data[at : at + 1]
    if state in {ValueState.ENDED, ValueState.WHOLE}:
        value = _value(data[at:end])
        if value is _NOTHING and byte == b'"':
            return _value(data[at:end].decode(errors="replace").encode()), end
        if value is not _NOTHING or not depth:
            return value, end
    if depth and byte == b"[":
        return _array(data, at + 1, depth - 1)
    if depth and byte == b"{":
        return _object(data, at + 1, depth - 1)
    # A bare word that is not JSON is skipped; the end of other text is not known.
    word = _word.match(data, at)
    return _NOTHING, _skip_space(data, word.end()) if word else len(data)


def _value(text: bytes) -> Any:
    try:
        return _decode(text)
    except NOT_JSON:
        return _NOTHING


def _array(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """Return the items from `at` on, and the offset of what follows the array."""
    items: list[Any] = []
    while len(items) < ITEMS:
        at = _skip_space(data, at)
        if data[at : at + 1] == b"]":
            return items, _skip_space(data, at + 1)
        value, at = _parse(data, at, depth)
        # An item that is cut off is not needed beside whole ones.
        if value is not _NOTHING and not (items and at == len(data)):
            items.append(value)
        if data[at : at + 1] != b",":
            break
        at += 1
    return items, at if data[at : at + 1] != b"]" else _skip_space(data, at + 1)


def _object(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Return the members from `at` on, and the offset of what follows the object."""
    members: dict[str, Any] = {}
    for _ in range(ITEMS):
        at = _skip_space(data, at)
        key, at = _parse(data, at, 0)
        if not isinstance(key, str) or data[at : at + 1] != b":":
            break
        value, at = _parse(data, _skip_space(data, at + 1), depth)
        members[key] = None if value is _NOTHING else value
        if data[at : at + 1] != b",":
            break
        at += 1
    if data[at : at + 1] != b"}":
        return members, len(data)
    return members, _skip_space(data, at + 1)


def _skip_space(data: bytes, at: int) -> int:
    while data[at : at + 1] and data[at] in JSON_SPACE:
        at += 1
    return at
