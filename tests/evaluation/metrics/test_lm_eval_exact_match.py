"""lm-eval-exact-match: what is left out of both texts, and what a filter kept."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.evaluation.metrics import MetricError, UnscorableError, measure_of
from harpia_formats.evaluation.metrics.metric import Sample


def score(sample: Sample, **more: Any) -> float | None:
    """Return the score of one answer."""
    measure = measure_of("lm-eval-exact-match", more)
    assert measure.of_sample is not None
    (found,) = measure.scores(measure.of_sample(sample))
    return found


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
    assert score(Sample(answer, references), **more) == expected


def test_a_filter_says_what_is_compared() -> None:
    """What the filter kept is compared; an answer of another filter does not count."""
    kept = {"strict": "4", "flexible": "[invalid]"}
    sample = Sample("It is 4.", ["4"], extracted=kept)

    assert score(sample, filter="strict") == 1
    assert score(sample, filter="flexible") == 0
    with pytest.raises(UnscorableError, match=r"^$"):
        score(sample, filter="other")
    with pytest.raises(UnscorableError, match="which one counts: strict, flexible"):
        score(sample)
    assert score(Sample("4", ["4"]), filter="none") == 1
    assert score(Sample("It is 4", ["4"], extracted={"none": "4"})) == 1


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
    with pytest.raises(MetricError, match="lm-eval-exact-match"):
        measure_of("lm-eval-exact-match", wrong)
