"""Turn the identity of a record into one text, the key of the record."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

#: The value of a missing member, as msgspec's decoders set it.
ABSENT: Final = msgspec.UNSET


def key_text(values: Sequence[Any], *, by_text: bool = False) -> str:
    """Return a text that is the same for equal JSON scalars and for no others.

    Absent, null, text, integer, float and boolean all differ; if `by_text`, an integer
    equals the text of its decimal digits.
    """
    if len(values) == 1:
        only = values[0]
        if type(only) is str and only[:1] != "(":
            return only
        if type(only) is int and by_text:
            return _digits(only)
    if by_text:
        values = [_digits(value) if type(value) is int else value for value in values]
    try:
        return repr(tuple(values))
    except ValueError:  # an integer has more digits than Python converts
        return f"({', '.join(map(_literal, values))},)"


def _literal(value: Any) -> str:
    return _digits(value) if type(value) is int else repr(value)


def _digits(number: int) -> str:
    """Return the decimal digits of an integer of any size."""
    try:
        return str(number)
    except ValueError:
        return str(Decimal(number))
