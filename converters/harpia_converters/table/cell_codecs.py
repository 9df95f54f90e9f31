"""Codecs between the text of a CSV cell and a field of a record."""

from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.model.adapter import DECLINED, ChangedValue, ValueCodec, as_is
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.parsing.locate import duplicates

#: The types of values that are all objects, and all text.
_objects, _all_text = frozenset({dict}), frozenset({str})


def as_json(text: str) -> Any:
    """Return the decoded value of JSON `text`, `DECLINED` if it is not JSON.

    JSON with a repeated key is declined too: it could not be written back.
    """
    try:
        value = decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return DECLINED
    if "{" in text and repeats_key(text, value):
        return DECLINED
    return value


def repeats_key(text: str, value: Any) -> bool:
    """Tell whether an object in JSON `text`, decoded as `value`, has a key twice.

    Each key is in `value` once, and its colon in the text: with as many colons in both,
    no key is there twice. Counting them takes a tenth of the time of reading the text
    again.
    """
    colons = text.count(":")
    if colons == _own_keys(value):
        return False
    try:
        # A colon can also be written as an escape.
        if "\\u003" not in text and colons == encode(value).count(b":"):
            return False
    except RecursionError:
        pass
    return any(duplicates(text.encode()))


def _own_keys(value: Any) -> int:
    """Return how many keys an object or the objects of a list have of their own."""
    if type(value) is dict:
        return len(value)
    if type(value) is list and _objects.issuperset(map(type, value)):
        return sum(map(len, value))
    return 0


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
    value = as_json(text) if text.lstrip().startswith("[") else DECLINED
    if type(value) is list and _all_text.issuperset(map(type, value)):
        return value
    return [text]


TEXT = ValueCodec(as_is, as_is, "")
MAYBE = ValueCodec(as_is, _plain_or_nothing, "null is left out")
ID = ValueCodec(as_is, _plain_or_digits, "an integer becomes text")
LIST = ValueCodec(_texts, json_of, "a list as JSON; other text is a list of one")
JSON = ValueCodec(as_json, json_of, "as JSON")
OBJECTS = ValueCodec(as_objects, json_of, "as JSON")
