"""Cohen's kappa of the labels of references and answers, from -1 to 1.

Sources: Cohen, A Coefficient of Agreement for Nominal Scales (1960), and Weighted Kappa
(1968); scikit-learn's `cohen_kappa_score`. It is not defined where all references and
answers have one label. Weights are for labels that are given in their order.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import fsum
from operator import mul
from typing import Any

from harpia_formats.evaluation.metrics.label_reading import OTHER, POWERS, LabelCounts
from harpia_formats.evaluation.metrics.labels import (
    DEFAULTS,
    label_measure,
    read_labels,
)
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters

PARAMETERS = {**DEFAULTS, "weights": "none"}
UNDEFINED = "all references and answers have one label"


def kappa(counts: LabelCounts, weights: str) -> float | None:
    """Return kappa of at least one answer; None where no disagreement is expected."""
    if weights == "none":
        total = counts.total
        observed = total - fsum(counts.right)
        expected = total**2 - fsum(map(mul, counts.references, counts.answers))
    else:
        observed, expected = counts.distance, _expected(counts, weights)
    return 1 - observed * counts.total / expected if expected else None


def _expected(counts: LabelCounts, weights: str) -> float:
    """Return the sum of distances over all pairs of a reference and an answer."""
    has_other = counts.labels[-1] == OTHER
    size = len(counts.labels) - has_other
    references, answers = counts.references[:size], counts.answers[:size]
    far = (size - 1) ** POWERS[weights]
    others = sum(references) * counts.answers[-1] * far if has_other else 0.0
    return others + _DISTANCES[weights](references, answers)


def _linear(references: Sequence[float], answers: Sequence[float]) -> float:
    """Return the sum of |i - j| over all pairs: how many lie across each border."""
    ours, theirs = list(accumulate(references)), list(accumulate(answers))
    return fsum(
        one * (theirs[-1] - other) + other * (ours[-1] - one)
        for one, other in zip(ours, theirs, strict=True)
    )


def _quadratic(references: Sequence[float], answers: Sequence[float]) -> float:
    """Return the sum of (i - j)^2 over all pairs, from the sums of powers of both."""
    ours, theirs = (
        [
            fsum(place**power * count for place, count in enumerate(counts))
            for power in range(3)
        ]
        for counts in (references, answers)
    )
    return ours[2] * theirs[0] - 2 * ours[1] * theirs[1] + ours[0] * theirs[2]


_DISTANCES = {"linear": _linear, "quadratic": _quadratic}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("kappa", PARAMETERS, given)
    weights = parameters.choice("weights", tuple(POWERS))
    reading = read_labels(parameters, weights)
    if weights != "none" and not reading.given:
        raise parameters.wrong("weights", "none without labels in their order")

    def score(counts: LabelCounts) -> float | None:
        return kappa(counts, weights)

    options = f"weights:{weights}"
    return label_measure("kappa", reading, score, options=options, undefined=UNDEFINED)


METRIC = Metric(
    "kappa",
    "Cohen's kappa of the labels of references and answers: 1 if all are right, 0 as "
    "by chance; weights (linear, quadratic) for labels in their order.",
    PARAMETERS,
    _measure_of,
)
