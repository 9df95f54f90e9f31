"""lm-eval-acc: the choice with the highest stored likelihood."""

from typing import Any

import pytest

from harpia_formats import ScoreError
from metric_scores import answered, totals


def score(
    reference: str, choices: list[str], likelihoods: list[int], **parameters: bool
) -> Any:
    """Return the score of one record, with what lm-eval stores of each choice."""
    responses = [[[number, False]] for number in likelihoods]
    row = answered(None, [reference], choices=choices)
    (found,) = totals(
        "lm-eval-acc",
        [row | {"extra": {"lm-eval-samples": {"resps": responses}}}],
        **parameters,
    )
    return found.value


def test_the_highest_likelihood_is_the_choice() -> None:
    """The length of a choice in characters divides its likelihood if that is asked."""
    assert score("bbbb", ["a", "bbbb"], [-1, -2]) == 0
    assert score("bbbb", ["a", "bbbb"], [-1, -2], by_length=True) == 1
    assert score("bbbb", ["a", "bbbb"], [-2, -1, -1, -9]) == 1


@pytest.mark.parametrize(
    ("reference", "choices", "likelihoods", "reason"),
    [
        ("a", ["a", "b"], [-1], "1 likelihoods of 2"),
        ("c", ["a", "b"], [-1, -2], "not one of"),
        ("a", ["a", "a"], [-1, -2], "not one of"),
    ],
)
def test_other_likelihoods_are_not_scored(
    reference: str, choices: list[str], likelihoods: list[int], reason: str
) -> None:
    """Each choice must have one likelihood, and the reference be one choice."""
    with pytest.raises(ScoreError, match=reason):
        score(reference, choices, likelihoods)
