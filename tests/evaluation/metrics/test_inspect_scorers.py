"""The scorers of Inspect as metrics: known values of each rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import ScoreError
from metric_scores import answered, totals, value


@for_each_case(
    "answer, reference, more, expected",
    [
        ("It is Maputo.", "maputo", {}, 1),
        ("Maputo it is", "Maputo", {}, 0),
        ("Maputo it is", "Maputo", {"location": "begin"}, 1),
        ("So Maputo it is", "Maputo", {"location": "any"}, 1),
        ("(Maputo)", "Maputo", {"location": "exact"}, 1),
        ("MAPUTO", "Maputo", {"ignore_case": False}, 0),
        ("No.", " No", {}, 1),
        ("25", "5", {}, 1),
        ("25", "5", {"numeric": True}, 0),
        ("It costs $1,234.", "1234", {"numeric": True}, 1),
        ("5 and (7)!", "7", {"numeric": True}, 1),
        ("5 and 7", "5", {"numeric": True, "location": "begin"}, 1),
        ("5, 6 and 7", "6", {"numeric": True, "location": "any"}, 1),
        ("5 apples", "5", {"numeric": True, "location": "exact"}, 0),
        ("60%", "60", {"numeric": True}, 0),
        ("<42", "42", {"numeric": True}, 0),
        (r"it is \$20", "20", {"numeric": True}, 1),
        ("(42)", "42", {"numeric": True, "location": "exact"}, 0),
        ("0.333333", "0.3333333", {"numeric": True}, 1),
        ("no number", "5", {"numeric": True}, 0),
        ("five", "five", {"numeric": True}, 1),
    ],
)
def test_match_is_that_of_inspect(
    answer: str, reference: str, more: dict[str, Any], expected: float
) -> None:
    """Texts are compared at their ends, numbers by their value."""
    assert value("inspect-match", answer, [reference], **more) == expected


@for_each_case(
    "answer, references, exact, f1",
    [
        ("The cat!", ["cat"], 1, 1),
        ("cat cat", ["cat"], 0, 0.67),
        ("sat cat", ["cat sat"], 0, 1),
        ("(5)", ["5.0"], 1, 1),
        ("a b c", ["b d"], 0, 0.5),
        ("b c e", ["b d"], 0, 0.4),
        ("b", ["b c d e f g"], 0, 0.29),
        ("state-of-the-art", ["State of art"], 1, 1),
        ("cat", [" cat"], 1, 1),
        ("dog", ["cat", "dog"], 1, 1),
        ("", ["cat"], 0, 0),
        ("the", ["a"], 0, 0),
    ],
)
def test_exact_and_f1_are_those_of_inspect(
    answer: str, references: list[str], exact: float, f1: float
) -> None:
    """Words are compared; a reference without any is never matched."""
    assert value("inspect-exact", answer, references) == exact
    assert value("inspect-f1", answer, references) == f1


@for_each_case(
    "answer, references, expected",
    [
        ("ANSWER: A", ["A"], 1),
        ("answer : B.", ["B"], 1),
        ("I think so.\nANSWER: C\n", ["C"], 1),
        ("So the ANSWER: D!", ["D"], 1),
        ("ANSWER: A,B", ["A"], 0),
        ("ANSWER: A,B", ["A", "B"], 1),
        ("ANSWER: BA", ["A", "B"], 1),
        ("ANSWER: A and B", ["A", "B"], 1),
        ("ANSWER: A", ["A", "B"], 0),
        ("ANSWER: E", ["E"], 0),
        ("A", ["A"], 0),
        ("ANSWER: a", ["A"], 1),
        ("ANSWER: **B**", ["B"], 1),
        ("ANSWER: (C).", ["C"], 1),
        ("ANSWER: $D$", ["D"], 1),
        ("ANSWER: A\nNo.\nANSWER: B", ["B"], 1),
        ("ANSWER: A,", ["A"], 1),
    ],
)
def test_choice_is_that_of_inspect(
    answer: str, references: list[str], expected: float
) -> None:
    """All letters of the references and no others must stand behind ANSWER."""
    row = answered(answer, references, choices=["w", "x", "y", "z"])
    (found,) = totals("inspect-choice", [row])

    assert found.value == expected


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_texts_have_a_score(answer: str, reference: str) -> None:
    """No text ends in an error, and an answer matches itself."""
    for more in ({}, {"numeric": True}, {"location": "any", "numeric": True}):
        assert value("inspect-match", answer, [reference], **more) in {0, 1}
    assert value("inspect-match", answer, [answer]) == 1
    assert value("inspect-exact", answer, [reference]) in {0, 1}
    assert 0 <= (value("inspect-f1", answer, [reference]) or 0) <= 1


def test_wrong_parameters_are_refused() -> None:
    """A location that is none, and a flag that is no flag, are errors."""
    for wrong in ({"location": "middle"}, {"numeric": 1}):
        with pytest.raises(ScoreError, match="inspect-match"):
            value("inspect-match", "a", ["a"], **wrong)
