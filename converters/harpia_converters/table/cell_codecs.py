"""Codecs between the text of a CSV cell and a field of a record."""

from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.model.adapter import DECLINED, ChangedValue, ValueCodec, as_is
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.record import fits
from harpia_formats.parsing.locate import duplicates


def as_json(text: str) -> Any:
    """Return the decoded value of JSON `text`, `DECLINED` if it is not JSON.

    JSON with a repeated key is declined too: it could not be written back.
    """
    try:
        value = decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return DECLINED
    if "{" in text and any(duplicates(text.encode())):
        return DECLINED
    return value


def as_objects(text: str) -> Any:
    """Return the decoded object of objects, `DECLINED` if `text` is no such JSON."""
    value = as_json(text)
    if type(value) is dict and all(type(member) is dict for member in value.values()):
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
    return value if fits("references", value) else [text]


TEXT = ValueCodec(as_is, as_is, "")
MAYBE = ValueCodec(as_is, _plain_or_nothing, "null is left out")
ID = ValueCodec(as_is, _plain_or_digits, "an integer becomes text")
LIST = ValueCodec(_texts, json_of, "a list as JSON; other text is a list of one")
JSON = ValueCodec(as_json, json_of, "as JSON")
OBJECTS = ValueCodec(as_objects, json_of, "as JSON")
