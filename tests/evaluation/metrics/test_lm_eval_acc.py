"""lm-eval-acc: the choice with the highest stored likelihood."""

import pytest

from harpia_formats.evaluation.metrics import UnscorableError, measure_of
from harpia_formats.evaluation.metrics.metric import Sample


def score(sample: Sample, *, by_length: bool = False) -> float | None:
    """Return the score of one record."""
    measure = measure_of("lm-eval-acc", {"by_length": by_length})
    assert measure.of_sample is not None
    (found,) = measure.scores(measure.of_sample(sample))
    return found


def test_the_highest_likelihood_is_the_choice() -> None:
    """The length of a choice in characters divides its likelihood if that is asked."""
    sample = Sample(None, ["bbbb"], ["a", "bbbb"], likelihoods=[-1, -2])

    assert score(sample) == 0
    assert score(sample, by_length=True) == 1
    assert score(sample._replace(likelihoods=[-2, -1, -1, -9])) == 1


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample(None, ["a"], ["a", "b"], likelihoods=[-1]), "1 likelihoods of 2"),
        (Sample(None, ["c"], ["a", "b"], likelihoods=[-1, -2]), "not one of"),
        (Sample(None, ["a"], ["a", "a"], likelihoods=[-1, -2]), "not one of"),
    ],
)
def test_other_likelihoods_are_not_scored(sample: Sample, reason: str) -> None:
    """Each choice must have one likelihood, and the reference be one choice."""
    with pytest.raises(UnscorableError, match=reason):
        score(sample)
