"""The scorers of Inspect as metrics: any texts, and wrong parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import ScoreError
from metric_scores import answered, value, values


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_texts_have_a_score(answer: str, reference: str) -> None:
    """No text ends in an error, and an answer matches itself."""
    for more in ({}, {"numeric": True}, {"location": "any", "numeric": True}):
        assert value("inspect-match", answer, [reference], **more) in {0, 1}
    assert value("inspect-match", answer, [answer]) == 1
    assert value("inspect-exact", answer, [reference]) in {0, 1}
    assert 0 <= (value("inspect-f1", answer, [reference]) or 0) <= 1


@for_each_case(
    "answer, reference",
    [
        ("The answer is −5.", "-5"),  # noqa: RUF001 - the sign of minus
        ("−5", "−5.0"),  # noqa: RUF001 - the sign of minus
        ("that is 1'000", "1000"),
        ("1000", "1 000"),
        ("about 2½", "2.5"),
        ("5²", "25"),
        ("-2²", "4"),
        ("4⁻¹", "0.25"),
        ("Ⅻ", "12"),
        ("Ⅻ²", "144"),
        ("一千零五", "1005"),
        ("答案是 四十二", "42"),
        ("三万五千点五", "35000.5"),
        ("二〇二五", "2025"),
        ("廿三", "23"),
        ("负十二", "-12"),
        ("٣٫٥", "3.5"),  # noqa: RUF001 - Arabic digits
        ("①", "1"),
    ],
)
def test_numbers_are_read_as_inspect_reads_them(answer: str, reference: str) -> None:
    """Numeric match knows other signs, digits, powers, fractions and Chinese."""
    assert value("inspect-match", answer, [reference], numeric=True) == 1
    assert value("inspect-match", "17", [reference], numeric=True) == 0


@for_each_case(
    "answer", ["5万亿x", "½½", "½5", "1-2", "1.2.3", "0⁻¹", "²x", "五x", "e"]
)
def test_what_is_no_number_is_no_other_one(answer: str) -> None:
    """Only a text that is a number as a whole is one."""
    for reference in ("5", "2", "1", "0.5"):
        assert value("inspect-match", answer, [reference], numeric=True) == 0


@for_each_case(
    "right, answer, wrong",
    [
        (["A", "B"], "ANSWER: A, B", "ANSWER: A"),
        (["A,B"], "ANSWER: A and B", "ANSWER: B"),
        (["A b"], "ANSWER: BA", "ANSWER: A"),
        (["AB"], "ANSWER: AB", "ANSWER: A, B, C"),
        (["Z"], "ANSWER: Z", "ANSWER: 1"),
        (["1"], "ANSWER: 1", "ANSWER: Z"),
        (["2"], "x\nANSWER: 2.", "ANSWER: 3"),
        (["C", "2"], "ANSWER: 2, C", "ANSWER: 2"),
    ],
)
def test_choices_are_named_as_inspect_names_them(
    right: list[str], answer: str, wrong: str
) -> None:
    """One reference may name several choices, and choices behind Z have numbers."""
    choices = [f"choice {at}" for at in range(28)]
    rows = [answered(text, right, choices=choices) for text in (answer, wrong)]

    assert values("inspect-choice", rows) == [(1,), (0,)]


def test_wrong_parameters_are_refused() -> None:
    """A location that is none, and a flag that is no flag, are errors."""
    for wrong in ({"location": "middle"}, {"numeric": 1}):
        with pytest.raises(ScoreError, match="inspect-match"):
            value("inspect-match", "a", ["a"], **wrong)
