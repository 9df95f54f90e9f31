"""Decode and encode JSON so that numbers keep their text; compare large numbers."""

from math import isclose, isinf
from typing import Any, Self

import msgspec


class ExactFloat(float):
    """A number that keeps its text, which is not the shortest one, such as `1e2`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Return the number with the JSON text `text`."""
        number = super().__new__(cls, text)
        number.text = text
        return number


#: What a decoder of msgspec raises for bytes that are not JSON. Its own errors are
#: `ValueError`s in some releases only.
NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class NumberOutOfRange(msgspec.DecodeError):
    """A number in a JSON text is too large for a 64-bit float."""


def _number(text: str) -> float:
    value = float(text)
    if repr(value) == text or msgspec.json.encode(value) == text.encode():
        return value
    if isinf(value):
        raise NumberOutOfRange(f"the number {text} is too large for a 64-bit float")
    return ExactFloat(text)


def as_json(value: Any) -> msgspec.Raw:
    """Return the JSON text of an `ExactFloat`, which the encoder does not know.

    Raises `TypeError` for a value of another type.
    """
    if isinstance(value, ExactFloat):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is not JSON")


def decoder_of(kind: Any) -> "msgspec.json.Decoder[Any]":
    """Return a decoder of a type; in parts of any type, numbers keep their text."""
    return msgspec.json.Decoder(kind, float_hook=_number)


#: Decodes a JSON text; raises `NOT_JSON`, also for a number that is out of range.
decode = msgspec.json.Decoder(float_hook=_number).decode
_encoder = msgspec.json.Encoder(enc_hook=as_json)
#: Encodes what `decode` returns.
encode = _encoder.encode
#: Encodes the same with the keys of objects in their order.
encode_sorted = msgspec.json.Encoder(enc_hook=as_json, order="sorted").encode
#: Encodes a list of such values, with a newline behind each.
encode_lines = _encoder.encode_lines


#: How far two numbers may differ that are the same but for rounding: many programs
#: write four decimals.
_relative, _absolute = 1e-3, 1e-4


def float_of(value: Any) -> float | None:
    """Return a decoded number as a float, None if it is none or too large for one."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def is_near(one: float, other: float) -> bool:
    """Tell whether two numbers are the same but for rounding."""
    return isclose(one, other, rel_tol=_relative, abs_tol=_absolute)
