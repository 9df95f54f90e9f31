"""Fuzzy match: the share of answers that contain a reference or are contained in one.

Source: `fuzzy_match` of the NeMo Evaluator (main branch, July 2026). The empty text is
in every text, so an answer without words always matches.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure, sample_mean_measure
from harpia_formats.evaluation.metrics.metric import (
    PAIR,
    Measure,
    Metric,
    Sample,
    UnscorableError,
)
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import RULES, score_over_references
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS

DEFAULTS = {
    "normalisation": "nel",
    "targets": "references",
    "references": "max",
    "scale": "0-1",
}
#: What an answer is compared with: the references, or the texts in the member
#: `correct_answers` of the metadata where a record has them.
TARGETS = ("references", "correct_answers")


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("fuzzy-match", DEFAULTS, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    targets = parameters.choice("targets", TARGETS)
    normal = NORMALISATIONS[chosen]

    def is_match(answer: str, reference: str) -> float:
        mine, other = normal(answer), normal(reference)
        return float(other in mine or mine in other)

    signature = f"fuzzy-match|{OWN_LIBRARY}|norm:{chosen}|targets:{targets}|refs:{rule}"
    best = score_over_references(is_match, rule)
    if targets == "references":
        return mean_measure(
            "fuzzy-match", signature, best, scale, is_binary=True, same_answer=normal
        )

    def of_sample(sample: Sample) -> float:
        answer, texts = sample.answer or "", sample.correct_answers
        if texts is None:
            return best(answer, sample.references)
        if not isinstance(texts, list) or not all(
            isinstance(one, str) for one in texts
        ):
            raise UnscorableError("metadata.correct_answers is no list of texts")
        return max((is_match(answer, text) for text in texts), default=0.0)

    return sample_mean_measure(
        "fuzzy-match",
        signature,
        of_sample,
        PAIR,
        scale,
        is_binary=True,
        uses=("correct_answers",),
        same_answer=lambda sample: normal(sample.answer or ""),
    )


METRIC = Metric(
    "fuzzy-match",
    "The share of answers that contain a reference or are part of one, after NeMo's "
    "normalisation. Beware: an empty answer, and one of punctuation or articles alone, "
    "matches every reference.",
    DEFAULTS,
    _measure_of,
)
