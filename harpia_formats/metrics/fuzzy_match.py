"""Fuzzy match: the share of answers that contain a reference or are contained in one.

Source: `fuzzy_match` of the NeMo Evaluator (main branch, July 2026). The empty text is
in every text, so an answer without words always matches.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.metrics.library import OWN_LIBRARY
from harpia_formats.metrics.mean import mean_measure
from harpia_formats.metrics.metric import Measure, Metric
from harpia_formats.metrics.parameters import read_parameters
from harpia_formats.metrics.references import RULES, score_over_references
from harpia_formats.metrics.text.normalise import NORMALISATIONS

DEFAULTS = {"normalisation": "nel", "references": "max", "scale": "0-1"}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("fuzzy-match", DEFAULTS, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    normal = NORMALISATIONS[chosen]

    def is_match(answer: str, reference: str) -> float:
        mine, other = normal(answer), normal(reference)
        return float(other in mine or mine in other)

    signature = f"fuzzy-match|{OWN_LIBRARY}|norm:{chosen}|refs:{rule}"
    score = score_over_references(is_match, rule)
    return mean_measure(
        "fuzzy-match", signature, score, scale, is_binary=True, same_answer=normal
    )


METRIC = Metric(
    "fuzzy-match",
    "The share of answers that contain a reference or are part of one, after NeMo's "
    "normalisation. Beware: an empty answer, and one of punctuation or articles alone, "
    "matches every reference.",
    DEFAULTS,
    _measure_of,
)
