"""JSON values whose numbers come out again as they went in."""

from typing import Any, Self

import msgspec


class ExactFloat(float):
    """A number whose text is not the shortest one, such as `1e2`; it keeps it."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Return the number that `text` is."""
        made = super().__new__(cls, text)
        made.text = text
        return made


def _number(text: str) -> float:
    value = float(text)
    if repr(value) == text or msgspec.json.encode(value) == text.encode():
        return value
    return ExactFloat(text)


def as_json(value: Any) -> msgspec.Raw:
    """Return the text of a value that the encoder does not know.

    Raises `TypeError`.
    """
    if isinstance(value, ExactFloat):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is not JSON")


#: Decodes a JSON text; raises `msgspec.MsgspecError` and `UnicodeDecodeError`.
decode = msgspec.json.Decoder(float_hook=_number).decode
_encoder = msgspec.json.Encoder(enc_hook=as_json)
#: Encodes what `decode` returns.
encode = _encoder.encode
#: Encodes many of them, with a newline behind each.
encode_lines = _encoder.encode_lines
