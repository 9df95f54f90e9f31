"""How the identity of a record becomes one text."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

#: Stands for a value that is not there, as msgspec's decoders have it.
ABSENT: Final = msgspec.UNSET


def key_text(values: Sequence[Any], *, by_text: bool = False) -> str:
    """Return a text that these JSON scalars have in common with no others.

    Absent, null, text, integer, float and boolean all differ; if `by_text`, an integer
    is what its decimal digits are as a text.
    """
    if len(values) == 1:
        only = values[0]
        if type(only) is str and only[:1] != "(":
            return only
        if type(only) is int and by_text:
            return _digits(only)
    if by_text:
        values = [_digits(each) if type(each) is int else each for each in values]
    try:
        return repr(tuple(values))
    except ValueError:  # of an integer with more digits than `int` likes to show
        return f"({', '.join(map(_literal, values))},)"


def _literal(value: Any) -> str:
    return _digits(value) if type(value) is int else repr(value)


def _digits(number: int) -> str:
    """Return the decimal digits of an integer of any size."""
    try:
        return str(number)
    except ValueError:
        return str(Decimal(number))
