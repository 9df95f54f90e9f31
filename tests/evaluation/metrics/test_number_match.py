r"""number-match: which number is read from a text, and when numbers are equal."""

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import ScoreError
from metric_scores import answered, value, values


def match(answer: str, references: list[str], /, **given: Any) -> float | None:
    """Return the score of one answer."""
    return value("number-match", answer, references, **given)


def read(*texts: tuple[str, Fraction | int], **given: Any) -> list[str]:
    """Return those of the texts of which another number is read than the given one."""
    rows = [answered(text, [str(number)]) for text, number in texts]
    found = values("number-match", rows, **given)
    return [text for (text, _), one in zip(texts, found, strict=True) if one != (1,)]


def test_the_decimal_separator_and_percentages_are_parameters() -> None:
    """A comma may separate decimals, and the sign of a percentage may be ignored."""
    comma = [("1.234,5", Fraction(2469, 2)), ("0,5", Fraction(1, 2))]

    assert read(*comma, decimal=",") == []
    assert read(("50%", 50), percent="ignored") == []
    assert read(("3, then 4", 4), several="last") == []


@given(st.integers(-(10**20), 10**20), st.integers(0, 6))
def test_written_numbers_are_read_as_they_are(number: int, digits: int) -> None:
    """A number with and without separators of thousands has its exact value."""
    expected = Fraction(number, 10**digits)
    whole, rest = divmod(abs(number), 10**digits)
    tail = f".{rest:0{digits}d}" if digits else ""
    sign = "-" if number < 0 else ""

    texts = f"{sign}{whole}{tail}", f"so it is {sign}{whole:,}{tail}, then"
    assert read(*((text, expected) for text in texts)) == []


@given(st.text(alphabet="012.,-+/ %$e^×\\{}frac box#:\n²٣'answeri", max_size=40))  # noqa: RUF001 - the sign of multiplication
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text ends in another error."""
    for several in ("refuse", "last"):
        given = {"several": several, "unreadable": "wrong"}
        assert match(text, ["1"], **given) in {0, 1}


def test_what_cannot_be_read_is_left_out() -> None:
    """An answer or a reference without a number has no score, by default."""
    with pytest.raises(ScoreError, match="from the answer: there are several"):
        match("3 or 4", ["4"])
    with pytest.raises(ScoreError, match="from the reference: there is no"):
        match("4", ["four"], unreadable="wrong")

    assert match("4", ["four", "4"]) == 1


@for_each_case(
    "last, text, expected",
    [
        (one, *two)
        for one, two in itertools.product(
            [False, True],
            [
                (r"\boxed{10^3}", 1000),
                (r"\boxed{10^{3}}", 1000),
                (r"\boxed{-10^{-2}}", Fraction(-1, 100)),
                ("The answer is 10^3.", 1000),
                ("10**3", 1000),
                (r"\boxed{5 \times 10^3}", 5000),
                ("The answer is 2^3.", None),
                (r"\boxed{110^3}", None),
                (r"\boxed{10^x}", None),
                (r"\boxed{10^{3x}}", None),
                (r"\boxed{10^3+1}", None),
                ("2·10^3", None),
                ("3+10^2", None),
                ("10^3!", None),
                ("10^2^3", None),
                ("10^1000", None),
            ],
        )
    ],
)
def test_powers_of_ten_are_numbers(
    text: str, expected: Fraction | int | None, last: bool
) -> None:
    """A power of ten has its value; another power, or a part of a formula, has none."""
    given = {"several": "last"} if last else {}
    if expected is None:
        with pytest.raises(ScoreError, match="no number is read from the answer"):
            match(text, ["1"], **given)
    else:
        assert read((text, expected), **given) == []
