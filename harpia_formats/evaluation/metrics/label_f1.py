"""F1 of labels: the harmonic mean of precision and recall, averaged over the labels.

Source: scikit-learn's `f1_score`. It is 2 x right / (references + answers) of a label,
so it is defined for every label that a reference or an answer has.
"""

from typing import Any

from harpia_formats.evaluation.metrics.label_averages import SHARES, average_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters


def _of_label(right: float, references: float, answers: float) -> tuple[float, float]:
    return 2 * right, references + answers


def _measure_of(average: str, given: Any) -> Measure:
    parameters = read_parameters(f"f1-{average}", SHARES, given)
    return average_measure(parameters, _of_label, average)


def _measure_of_one(given: Any) -> Measure:
    parameters = read_parameters("f1-binary", BINARY, given)
    return average_measure(parameters, _of_label, "macro")


#: The positive label is 1 if not given, as in scikit-learn.
BINARY = {"positive": "1", **SHARES}
METRICS = (
    Metric(
        "f1-macro",
        "The mean of the F1 of each label: 2 x right / (references + answers).",
        SHARES,
        lambda given: _measure_of("macro", given),
    ),
    Metric(
        "f1-micro",
        "The F1 of all labels together: the accuracy, if every answer has a label.",
        SHARES,
        lambda given: _measure_of("micro", given),
    ),
    Metric(
        "f1-weighted",
        "The mean of the F1 of each label, weighted by its number of references.",
        SHARES,
        lambda given: _measure_of("weighted", given),
    ),
    Metric(
        "f1-binary",
        "The F1 of one label, the parameter `positive`.",
        BINARY,
        _measure_of_one,
    ),
)
