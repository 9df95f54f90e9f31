import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.validation.dedup.identity import ABSENT, key_text

#: Few enough to be equal now and then, and made of what keys are made of.
TEXTS = st.text("()'\",\\ 1aUNSET\0\ud800ç", max_size=6)
SCALARS = st.one_of(
    st.sampled_from(
        [ABSENT, None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, "1", "", "("]
    ),
    st.sampled_from(["None", "True", "UNSET", "1.0", 2**64, float("inf")]),
    st.integers(),
    st.floats(allow_nan=False),
    TEXTS,
)
TUPLES = st.lists(SCALARS, max_size=3).map(tuple)


def identity(values: tuple[Any, ...], *, by_text: bool) -> list[tuple[str, Any]]:
    """Return what tells values apart: the type, and the sign of a zero."""
    if by_text:
        values = tuple(digits(each) if type(each) is int else each for each in values)
    return [
        (type(each).__name__, each.hex() if isinstance(each, float) else each)
        for each in values
    ]


def digits(number: int) -> str:
    """Return the decimal digits of a number, its last 1,000 apart from the others."""
    head, tail = divmod(abs(number), 10**1000)
    text = f"{digits(head)}{tail:01000}" if head else str(tail)
    return f"-{text}" if number < 0 else text


@given(TUPLES, TUPLES, st.booleans())
@example(("a", "b"), ("a, b",), False)
@example((1,), ("(1,)",), False)
@example((1,), (True,), True)
def test_keys_are_equal_where_the_values_are(
    one: tuple[Any, ...], other: tuple[Any, ...], by_text: bool
) -> None:
    """Two tuples have the same text exactly if types and values are the same."""
    same = identity(one, by_text=by_text) == identity(other, by_text=by_text)

    assert (key_text(one, by_text=by_text) == key_text(other, by_text=by_text)) is same


@given(TUPLES, st.booleans())
def test_a_text_that_is_a_key_has_another_key(
    values: tuple[Any, ...], by_text: bool
) -> None:
    """A text that looks like the key of other values has another key."""
    key = key_text(values, by_text=by_text)
    is_itself = identity(values, by_text=by_text) == [("str", key)]

    assert (key_text((key,), by_text=by_text) == key) is is_itself


@for_each_case("text", ["a", "", "q-1", "é", "1", "null", " (a)"])
def test_plain_text_is_its_own_key(text: str) -> None:
    """A single text is used as it is, without a copy."""
    assert key_text((text,)) is text


def test_scalars_that_look_alike_differ() -> None:
    """Absent, null, an integer, a float, a boolean and their texts all differ."""
    values = [
        ABSENT,
        None,
        1,
        1.0,
        True,
        "1",
        "1.0",
        "true",
        "True",
        "None",
        "",
        "UNSET",
    ]

    assert len({key_text((each,)) for each in values}) == len(values)


@for_each_case("size, sign", itertools.product([0, 20, 5000], [1, -1]))
def test_integer_compares_by_its_text(size: int, sign: int) -> None:
    """By text, an integer of any size is the same as its digits; otherwise not."""
    number = sign * 10**size
    text = digits(number)

    assert key_text((number,), by_text=True) == text
    assert key_text((number, "a"), by_text=True) == key_text((text, "a"), by_text=True)
    assert key_text((number,)) != key_text((text,))


def test_integers_beyond_the_limit_on_digits_differ() -> None:
    """Integers with more digits than Python converts have different keys, too."""
    large = 10**5000
    keys: list[tuple[Any, ...]] = [
        (large,),
        (large + 1,),
        (-large,),
        (large, 1),
        (large, "1"),
        (1, large),
    ]
    keys += [(large, None), (large, ABSENT), (digits(large),), (large, large)]

    assert len(set(map(key_text, keys))) == len(keys)
    assert key_text((large, "a")) == key_text((10**5000, "a"))


@pytest.mark.parametrize("value", [True, 1.0, None, ABSENT])
def test_only_integers_compare_by_text(value: Any) -> None:
    """By text, no other scalar becomes a text."""
    for company in ((), ("a",)):
        keys = {
            key_text((each, *company), by_text=True)
            for each in (str(value), str(value).lower(), "1", value)
        }

        assert len(keys) == len({str(value), str(value).lower(), "1"}) + 1


def test_order_counts() -> None:
    """The same values in another order are another key."""
    assert key_text(("a", "b")) != key_text(("b", "a"))
