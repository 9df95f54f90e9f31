"""The values of Inspect's scores as those of a record's."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from harpia_formats.model.exact_json import ExactFloat

#: What the letters of Inspect count: correct, partial, incorrect, no answer.
LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
#: The letters that say whether an answer is correct; half of it is neither.
_verdicts = {"C": True, "I": False}
_numbers = frozenset({int, float, bool, ExactFloat})


class Value(NamedTuple):
    """One value of a scorer."""

    #: What is behind the name of the scorer in that of the metric, or "".
    key: str
    #: None if there is no score, or one that is no number.
    number: Any
    is_correct: bool | None
    #: Whether there is a value, and it is no number.
    is_other: bool


def values_in(given: Any) -> Iterator[Value]:
    """Yield the values that a score has: several for a list or an object."""
    if type(given) is dict:
        for key, value in given.items():
            yield _value(str(key), value)
    elif type(given) is list:
        for number, value in enumerate(given):
            yield _value(str(number), value)
    else:
        yield _value("", given)


def _value(key: str, given: Any) -> Value:
    if given is None:
        return Value(key, None, None, is_other=False)
    if type(given) in _numbers:
        return Value(key, given, None, is_other=False)
    if type(given) is str and given in LETTERS:
        return Value(key, LETTERS[given], _verdicts.get(given), is_other=False)
    return Value(key, None, None, is_other=True)
