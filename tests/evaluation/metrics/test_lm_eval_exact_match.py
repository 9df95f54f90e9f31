"""lm-eval-exact-match: what is left out of both texts, and what a filter kept."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ScoreError
from metric_scores import answered, totals, value, values


def score(answer: str, kept: dict[str, str], **more: Any) -> Any:
    """Return the score of an answer of which filters kept these texts."""
    (found,) = totals("lm-eval-exact-match", [filtered(answer, kept)], **more)
    return found.value


def filtered(answer: str, kept: dict[str, str]) -> Any:
    """Return a record whose right answer is 4, with what filters kept of its own."""
    row = answered(answer, ["4"])
    row["outputs"][0]["attribution"] = [
        {"extraction_method": name, "extracted_value": text}
        for name, text in kept.items()
    ]
    return row


@for_each_case(
    "answer, references, more, expected",
    [
        ("Paris", ["Paris"], {}, 1),
        ("Paris ", ["Paris"], {}, 0),
        ("paris", ["Paris"], {}, 0),
        ("paris", ["Rome", "Paris"], {"ignore_case": True}, 1),
        ("$1,000.", ["1000"], {"regexes_to_ignore": [",", r"\$", r"\.$"]}, 1),
        ("it's", ["its"], {"ignore_punctuation": True}, 1),
        ("«é»", ["é"], {"ignore_punctuation": True}, 0),
        ("a1", ["a2"], {"ignore_numbers": True}, 1),
        ("a٣", ["a"], {"ignore_numbers": True}, 0),
        ("a\0", ["a"], {}, 1),
    ],
)
def test_parts_of_both_texts_are_left_out(
    answer: str, references: list[str], more: dict[str, Any], expected: float
) -> None:
    """Regular expressions go first, then case, punctuation and digits of ASCII."""
    assert value("lm-eval-exact-match", answer, references, **more) == expected


def test_a_filter_says_what_is_compared() -> None:
    """What the filter kept is compared; an answer of another filter does not count."""
    kept = {"strict": "4", "flexible": "[invalid]"}
    rows = [filtered("It is 4.", kept), filtered("4", {"other": "4"})]

    assert score("It is 4.", kept, filter="strict") == 1
    assert score("It is 4.", kept, filter="flexible") == 0
    assert values("lm-eval-exact-match", rows, filter="other") == [(None,), (1,)]
    (found,) = totals("lm-eval-exact-match", rows, filter="other")
    assert (found.value, found.count, found.unscored) == (1, 1, 0)
    with pytest.raises(ScoreError, match="which one counts: strict, flexible"):
        score("It is 4.", kept)
    assert score("4", {}, filter="none") == 1
    assert score("It is 4", {"none": "4"}) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"regexes_to_ignore": "x"},
        {"regexes_to_ignore": ["("]},
        {"ignore_case": "yes"},
        {"filter": ""},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    """What is no regular expression, flag or name is an error that names it."""
    with pytest.raises(ScoreError, match="lm-eval-exact-match"):
        value("lm-eval-exact-match", "a", ["a"], **wrong)
