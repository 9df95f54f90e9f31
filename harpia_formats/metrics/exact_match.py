"""Exact match: 1 where an answer is a reference, SQuAD's normalisation apart."""

from collections.abc import Sequence

from harpia_formats.metrics.metric import Metric
from harpia_formats.metrics.normal import normal


def score(answer: str, references: Sequence[str]) -> float:
    """Return 1.0 if `answer` is one of `references`, else 0.0.

    Source: SQuAD v1.1, the best over all references, on a scale from 0 to 1.
    """
    mine = normal(answer)
    return float(any(mine == normal(each) for each in references))


METRIC = Metric("em", score, "em|norm:squad|refs:max|scale:0-1")
