"""lm-eval-acc: the choice with the highest stored likelihood."""

import math
import random
from typing import Any

import numpy as np
import pytest

from harpia_formats import ScoreError
from metric_scores import answered, totals


def score(
    references: list[str],
    choices: list[str],
    likelihoods: list[Any],
    target: Any = None,
    **parameters: bool,
) -> Any:
    """Return the score of one record, with what lm-eval stores of each choice."""
    responses = [[[number, False]] for number in likelihoods]
    row = answered(None, references, choices=choices)
    stored = {"resps": responses, "target": target}
    (found,) = totals(
        "lm-eval-acc", [row | {"extra": {"lm-eval-samples": stored}}], **parameters
    )
    return found.value


def test_the_highest_likelihood_is_the_choice() -> None:
    """The length of a choice in characters divides its likelihood if that is asked."""
    assert score(["bbbb"], ["a", "bbbb"], [-1, -2]) == 0
    assert score(["bbbb"], ["a", "bbbb"], [-1, -2], by_length=True) == 1
    assert score(["bbbb"], ["a", "bbbb"], [-2, -1, -1, -9]) == 1


@pytest.mark.parametrize("by_length", [False, True])
def test_the_choice_is_that_of_numpy(*, by_length: bool) -> None:
    """It is the first highest one of arrays, which divide by no characters, too."""
    chance = random.Random(3)  # noqa: S311 - made-up likelihoods
    for _ in range(100):
        choices = chance.sample(["", "a", "b", "cc", "dddd", "eeeeeeee"], 4)
        found = [chance.choice([-0.5, -1.0, -2.0, -8.0, -math.inf]) for _ in choices]
        with np.errstate(divide="ignore"):
            lengths = np.array([float(len(choice)) for choice in choices])
            best = np.argmax(np.array(found) / lengths if by_length else found)

        texts = list(map(str, found))
        assert score([choices[best]], choices, texts, by_length=by_length) == 1


def test_any_of_several_right_choices_is_right() -> None:
    """An answer is right whichever of the references it is."""
    right = ["a", "c"]
    found = [score(right, ["a", "b", "c"], each) for each in ([3, 2, 1], [1, 2, 3])]

    assert found == [1, 1]
    assert score(right, ["a", "b", "c"], [1, 3, 2]) == 0
    assert score(["elsewhere", "b"], ["a", "b"], [1, 2]) == 1


@pytest.mark.parametrize(
    ("target", "expected"), [("0", 1), (1, 0), ("[1]", 0), ("[0, 1]", 1), ("E", 1)]
)
def test_stored_target_tells_which_of_equal_choices_is_right(
    target: Any, expected: int
) -> None:
    """It is the index, or the choice itself, of which the first one counts."""
    references = ["E", "E"] if target == "[0, 1]" else ["E"]

    assert score(references, ["E", "E", "A"], [-1, -2, -3], target) == expected


@pytest.mark.parametrize(
    ("references", "choices", "likelihoods", "reason"),
    [
        (["a"], ["a", "b"], [-1], "not one likelihood for each choice, but 1 for 2"),
        (["c"], ["a", "b"], [-1, -2], "not one of the choices"),
        (["a"], ["a", "a"], [-1, -2], "several of the choices"),
        (["b", "a"], ["a", "a", "b"], [-1, -2, -3], "several of the choices"),
        (["a"], ["a", "b"], ["nan", -1], "a likelihood is no number"),
        (["a"], ["a", "b"], [-1, "NaN"], "a likelihood is no number"),
        (["a"], ["a", "b"], [-1, -(10**308) * 10], "no likelihoods of the choices"),
    ],
)
def test_other_likelihoods_are_not_scored(
    references: list[str], choices: list[str], likelihoods: list[Any], reason: str
) -> None:
    """Each choice must have a likelihood, and it must be known which are right."""
    with pytest.raises(ScoreError, match=reason):
        score(references, choices, likelihoods)


def test_a_target_that_names_no_reference_does_not_tell() -> None:
    """References are right, also where they were changed and the target was not."""
    assert score(["b"], ["a", "b"], [-2, -1], "0") == 1
    with pytest.raises(ScoreError, match="several of the choices"):
        score(["a"], ["a", "a", "b"], [-1, -2, -3], "2")


def test_nothing_per_character_is_not_scored() -> None:
    """An empty choice with a likelihood of 0 has no likelihood per character."""
    assert score([""], ["", "a"], [0, -1]) == 1
    with pytest.raises(ScoreError, match="a likelihood per character is no number"):
        score([""], ["", "a"], [0, -1], by_length=True)
