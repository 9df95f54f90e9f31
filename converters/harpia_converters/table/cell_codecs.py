"""Codecs between the text of a CSV cell and a field of a record."""

from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.model.adapter import DECLINED, ChangedValue, ValueCodec, as_is
from harpia_formats.model.exact_json import decode, encode

#: The values of common cells, which are looked up instead of decoded.
_common = {text: decode(text) for text in "true false 0 1 0.0 1.0".split()}
_short = 1 + max(map(len, _common))
_no_json = (msgspec.MsgspecError, ValueError, RecursionError)
_containers = frozenset({dict, list})
#: The types of values that are all objects, and all text.
_objects, _all_text = frozenset({dict}), frozenset({str})


def as_json(text: str) -> Any:
    """Return the decoded value of JSON `text`, `DECLINED` if it is not JSON.

    JSON with a repeated key is declined too: it could not be written back.
    """
    if len(text) < _short:
        value = _common.get(text, DECLINED)
        if value is not DECLINED:
            return value
    try:
        value = decode(text)
    except _no_json:
        return DECLINED
    if type(value) in _containers and repeats_key(text, value):
        return DECLINED
    return value


def repeats_key(text: str, value: dict[str, Any] | list[Any]) -> bool:
    """Tell whether an object in JSON `text`, decoded as `value`, has a key twice.

    Each key is in `value` once, and its colon in the text: with as many colons in both,
    no key is there twice, and the text need not be read again.
    """
    colons = text.count(":")
    if type(value) is dict:
        own = len(value)
    else:
        own = sum(map(len, value)) if _objects.issuperset(map(type, value)) else 0
    if colons == own:
        return False
    try:
        # A colon can also be written as an escape.
        if "\\u003" not in text and colons == encode(value).count(b":"):
            return False
    except RecursionError:
        pass
    return any(duplicates(text.encode()))


def as_objects(text: str) -> Any:
    """Return the decoded object of objects, `DECLINED` if `text` is no such JSON."""
    value = as_json(text)
    if type(value) is dict and _objects.issuperset(map(type, value.values())):
        return value
    return DECLINED


def json_of(value: Any) -> str:
    """Return `value` as compact JSON."""
    return encode(value).decode()


def _plain_or_nothing(text: str | None) -> Any:
    return ChangedValue(UNSET, "left out for null") if text is None else text


def _plain_or_digits(given: int | str) -> Any:
    if isinstance(given, int):
        return ChangedValue(json_of(given), "an integer as text")
    return given


def _texts(text: str) -> Any:
    if text.lstrip()[:1] != "[":
        return [text]
    try:
        value = decode(text)
    except _no_json:
        return [text]
    return value if _all_text.issuperset(map(type, value)) else [text]


TEXT = ValueCodec(as_is, as_is, "")
MAYBE = ValueCodec(as_is, _plain_or_nothing, "null is left out")
ID = ValueCodec(as_is, _plain_or_digits, "an integer becomes text")
LIST = ValueCodec(_texts, json_of, "a list as JSON; other text is a list of one")
JSON = ValueCodec(as_json, json_of, "as JSON")
OBJECTS = ValueCodec(as_objects, json_of, "as JSON")
