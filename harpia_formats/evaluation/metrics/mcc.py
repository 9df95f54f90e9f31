"""Matthews' correlation coefficient of two or more labels, from -1 to 1.

Source: Gorodkin, Comparing Two K-Category Assignments by a K-Category Correlation
Coefficient (2004); scikit-learn's `matthews_corrcoef`. It is 0 where all references or
all answers have one label.
"""

from collections.abc import Mapping
from math import fsum, sqrt
from operator import mul
from typing import Any

from harpia_formats.evaluation.metrics.label_reading import LabelCounts
from harpia_formats.evaluation.metrics.labels import (
    DEFAULTS,
    label_measure,
    read_labels,
)
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters


def coefficient(counts: LabelCounts) -> float:
    """Return the coefficient of at least one answer."""
    total = counts.total
    chance, references, answers = (
        fsum(map(mul, one, other))
        for one, other in (
            (counts.references, counts.answers),
            (counts.references, counts.references),
            (counts.answers, counts.answers),
        )
    )
    spread = sqrt(total**2 - references) * sqrt(total**2 - answers)
    return (fsum(counts.right) * total - chance) / spread if spread else 0.0


def _measure_of(given: Mapping[str, Any]) -> Measure:
    reading = read_labels(read_parameters("mcc", DEFAULTS, given))
    return label_measure("mcc", reading, coefficient)


METRIC = Metric(
    "mcc",
    "Matthews' correlation coefficient of the labels of references and answers: 1 if "
    "all are right, 0 as by chance, at least -1.",
    DEFAULTS,
    _measure_of,
)
