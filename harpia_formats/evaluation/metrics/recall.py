"""Recall of labels: the share of the references with a label that answers give.

Source: scikit-learn's `recall_score`. It is averaged over the labels, or that of one
positive label. A label that no reference has divides by 0, and counts as
`zero_division`.
"""

from harpia_formats.evaluation.metrics.label_averages import RATIOS, ratio_measure
from harpia_formats.evaluation.metrics.metric import Metric


def _of_label(right: float, references: float, _: float) -> tuple[float, float]:
    return right, references


METRIC = Metric(
    "recall",
    "The share of the references with a label that the answers give: the mean over "
    "labels (macro), weighted by their references (weighted), of all labels together "
    "(micro), or of the label `positive`.",
    RATIOS,
    lambda given: ratio_measure("recall", _of_label, given),
)
