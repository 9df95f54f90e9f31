"""Precision of labels: the share of the answers with a label that are right.

Source: scikit-learn's `precision_score`. It is averaged over the labels, or that of one
positive label. A label that no answer has divides by 0, and counts as `zero_division`.
"""

from harpia_formats.evaluation.metrics.label_averages import RATIOS, ratio_measure
from harpia_formats.evaluation.metrics.metric import Metric


def _of_label(right: float, _: float, answers: float) -> tuple[float, float]:
    return right, answers


METRIC = Metric(
    "precision",
    "The share of the answers with a label that are right: the mean over labels "
    "(macro), weighted by their references (weighted), of all labels together (micro), "
    "or of the label `positive`.",
    RATIOS,
    lambda given: ratio_measure("precision", _of_label, given),
)
