"""Token F1: how much of an answer and of a reference are the same words."""

from collections import Counter
from collections.abc import Sequence

from harpia_formats.metrics.metric import Metric
from harpia_formats.metrics.normal import normal


def score(answer: str, references: Sequence[str]) -> float:
    """Return the best F1 of `answer` over `references`, from 0 to 1.

    Source: SQuAD v2: two texts without a word are alike, one alone is not.
    """
    mine = normal(answer).split()
    return max(_f1(mine, normal(each).split()) for each in references)


def _f1(answer: list[str], reference: list[str]) -> float:
    if not answer or not reference:
        return float(answer == reference)
    common = (Counter(answer) & Counter(reference)).total()
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)


METRIC = Metric("f1", score, "f1|norm:squad|empty:v2|refs:max|scale:0-1")
