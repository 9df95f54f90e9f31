"""The scorers of Inspect as metrics: any texts, and wrong parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import ScoreError
from metric_scores import value


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
