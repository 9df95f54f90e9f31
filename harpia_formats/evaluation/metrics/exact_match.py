"""Exact match: the share of answers that equal a reference after normalisation.

Source: the evaluation script of SQuAD v1.1 (Rajpurkar and others, SQuAD: 100,000+
Questions for Machine Comprehension of Text, 2016).
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import RULES, score_over_references
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS


def measure_of(name: str, defaults: Mapping[str, Any], given: Any) -> Measure:
    """Return exact match with its parameters, from 0 to 1 or from 0 to 100.

    A record scores 1 if its answer equals a reference after normalisation, else 0.
    Raises `MetricError` for an unknown parameter or a bad value.
    """
    parameters = read_parameters(name, defaults, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    normal = NORMALISATIONS[chosen]

    def is_match(answer: str, reference: str) -> float:
        return float(normal(answer) == normal(reference))

    signature = f"{name}|{OWN_LIBRARY}|norm:{chosen}|refs:{rule}"
    return mean_measure(
        name,
        signature,
        score_over_references(is_match, rule),
        scale,
        is_binary=True,
        same_answer=normal,
    )


DEFAULTS = {"normalisation": "squad", "references": "max", "scale": "0-1"}
METRIC = Metric(
    "em",
    "The share of answers that equal a reference in SQuAD's normalisation (lower case, "
    "without ASCII punctuation and the articles a, an, the).",
    DEFAULTS,
    lambda given: measure_of("em", DEFAULTS, given),
)
