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

READ = [
    ("42", 42),
    ("  -3.50 ", Fraction(-7, 2)),
    ("−7", -7),  # noqa: RUF001 - the sign of minus
    ("+5", 5),
    (".5", Fraction(1, 2)),
    ("3.", 3),
    ("It costs $1,234,567.89.", Fraction(123456789, 100)),
    ("-$5", -5),
    ("$-5", -5),
    ("R$ 42", 42),
    ("1\u00a0234\u202f567", 1234567),
    ("50%", Fraction(1, 2)),
    ("12.5 %", Fraction(1, 8)),
    (r"50\%", Fraction(1, 2)),
    ("3/4", Fraction(3, 4)),
    ("-3/4", Fraction(-3, 4)),
    ("1 1/2", Fraction(3, 2)),
    (r"\frac{3}{4}", Fraction(3, 4)),
    (r"-\dfrac{3}{4}", Fraction(-3, 4)),
    (r"1\frac{1}{2}", Fraction(3, 2)),
    (r"\frac12", Fraction(1, 2)),
    ("1e5", 100_000),
    ("1.5E-3", Fraction(3, 2000)),
    ("3 x 10^5", 300_000),
    (r"3 \times 10^{-2}", Fraction(3, 100)),
    ("3×10⁵", 300_000),  # noqa: RUF001 - the sign of multiplication
    ("٣", 3),
    ("١٢٫٥", Fraction(25, 2)),  # noqa: RUF001 - as it is written
    ("5 apples", 5),
    ("H2O costs 3 euros", 3),
    ("x^2 is 9", 9),
    ("4 = 4.0", 4),
    ("6 * 7 = 42\n#### 42", 42),
    ("First #### 1\nthen 7\n#### 1,000", 1000),
    (r"So 6 and 7 give $\boxed{42}$.", 42),
    (r"\boxed{1} or rather \boxed{\frac{1}{2}}", Fraction(1, 2)),
    (r"\boxed{1{,}234\text{ km}}", 1234),
    (r"\boxed{x = 5}", 5),
    (r"#### 7, which is \boxed{8}", 8),
    ("3 and 4: the answer is 7.", 7),
    ("The answer is 5 apples, not 6.", 5),
    ("The answer is **12**, 3 more than 9.", 12),
    ("Answer: $18", 18),
    (r"The final answer is: \(x = 3\). I used 2 steps.", 3),
    ("A resposta é 12. Usei 3 passos.", 12),
    ("The answer is the sum of both. It is 9", 9),
    (r"\boxed{90^{\circ}}", 90),
    (r"\boxed{x = 45^{\circ}}", 45),
    ("The answer is 25 000 euros.", 25_000),
    (r"\boxed{1\ 000 000 \text{ m}}", 1_000_000),
    ("#### 12 500", 12_500),
    ("The answer is 1\u2009000.", 1000),
    ("The answer is 5 hours, or 300 minutes.", 5),
    ("The answer is 12 cm or 0.12 m.", 12),
    ("【答案】42", 42),
    ("Also ist die Antwort 42, und nicht 41.", 42),
]
REFUSED = [
    ("", "there is no number in it"),
    ("four", "there is no number in it"),
    ("x1", "there is no number in it"),
    ("3 and 4", "there are several numbers in it"),
    ("100 200 300", "there are several numbers in it"),
    ("The answer is 60 cm or 120 cm.", "this is not read as a number: 60 cm or"),
    ("The answer is 60° or 120°.", "this is not read as a number: 60° or"),
    ("Die Antwort ist 5 Euro oder 6.", "this is not read as a number: 5 Euro"),
    ("The answer is 5 km to 6 km.", "this is not read as a number: 5 km to"),
    ("7-3", "there are several numbers in it"),
    ("2024-01-05", "there are several numbers in it"),
    ("1.2.3", "this is not read as a number: 1.2.3"),
    ("1,2", "this is not read as a number: 1,2"),
    ("1.234.567", "this is not read as a number"),
    ("10:30", "this is not read as a number: 10:3"),
    ("3/4/2020", "this is not read as a number: 3/4/2"),
    ("1/0", "this is not read as a number: 1/0"),
    ("1 3/2", "this is not read as a number"),
    ("2^10", "this is not read as a number: 2^1"),
    ("5²", "this is not read as a number"),
    ("1e9999", "this is not read as a number: 1e9999"),
    ("9" * 5000, "this is not read as a number: 999"),
    (r"\boxed{(1, 2)} is 1", r"there are several numbers in \boxed{}"),
    (r"5 \boxed{none}", r"there is no number in \boxed{}"),
    ("5\n####", "there is no number in the line behind ####"),
    ("The answer is between 3 and 4", "several numbers in the sentence"),
]


def match(answer: str, references: list[str], /, **given: Any) -> float | None:
    """Return the score of one answer."""
    return value("number-match", answer, references, **given)


def read(*texts: tuple[str, Fraction | int], **given: Any) -> list[str]:
    """Return those of the texts of which another number is read than the given one."""
    rows = [answered(text, [str(number)]) for text, number in texts]
    found = values("number-match", rows, **given)
    return [text for (text, _), one in zip(texts, found, strict=True) if one != (1,)]


def test_a_number_is_read() -> None:
    """The number that a text gives is found, whatever else it holds."""
    assert read(*READ) == []


@for_each_case("text, reason", REFUSED)
def test_nothing_is_guessed(text: str, reason: str) -> None:
    """A text without a number, or with several, has none, with a reason."""
    with pytest.raises(ScoreError) as refused:
        match(text, ["1"])

    assert reason in str(refused.value)


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


@for_each_case(
    "answer, reference, given, expected",
    [
        ("0.3", "3/10", {}, 1),
        ("0.333", "1/3", {}, 0),
        ("0.333", "1/3", {"absolute": 0.001}, 1),
        ("101", "100", {"relative": 0.01}, 1),
        ("101.1", "100", {"relative": 0.01}, 0),
        ("0.1", "0.2", {"absolute": 0.1}, 1),
        ("-5", "5", {}, 0),
        ("50%", "50", {"percent": "ignored"}, 1),
        ("He has 72.", "48/2 = 24, 48+24 = 72\n#### 72", {}, 1),
        ("3, so 4", "4", {"several": "last"}, 1),
        ("no idea", "4", {"unreadable": "wrong"}, 0),
    ],
)
def test_numbers_match_within_the_tolerance(
    answer: str, reference: str, given: dict[str, Any], expected: float
) -> None:
    """The larger of both tolerances counts, and numbers are compared exactly."""
    assert match(answer, [reference], **given) == expected


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
