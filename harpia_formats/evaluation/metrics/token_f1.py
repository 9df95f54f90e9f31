"""Token F1: the F1 of the words that an answer and a reference share, from 0 to 1.

Source: the evaluation scripts of SQuAD v1.1 and v2 (Rajpurkar and others, 2016 and
2018). Words are split at white space after normalisation; a word counts as often as
both texts have it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import RULES, score_over_references
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS
from harpia_formats.evaluation.metrics.text.overlap import f_score, overlap

DEFAULTS = {
    "normalisation": "squad",
    "empty": "v2",
    "references": "max",
    "scale": "0-1",
}
#: The score if one text has no word, by whether both have none. SQuAD v1.1 finds no
#: common word and returns 0, and so does "zero", the name of other tools for it.
EMPTY: Mapping[str, Callable[[bool], float]] = {
    "v1": lambda _: 0.0,
    "v2": float,
    "zero": lambda _: 0.0,
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("f1", DEFAULTS, given)
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    empty = parameters.choice("empty", tuple(EMPTY))
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    normal, of_empty = NORMALISATIONS[chosen], EMPTY[empty]

    def score(answer: str, reference: str) -> float:
        mine, other = normal(answer).split(), normal(reference).split()
        if not mine or not other:
            return of_empty(mine == other)
        return f_score(overlap(mine, other), len(mine), len(other))

    signature = f"f1|{OWN_LIBRARY}|norm:{chosen}|empty:{empty}|refs:{rule}"
    return mean_measure(
        "f1",
        signature,
        score_over_references(score, rule),
        scale,
        same_answer=normal,
    )


METRIC = Metric(
    "f1",
    "The mean F1 of the words that an answer and a reference share, in SQuAD's "
    "normalisation; two texts without words are alike (empty: v2) or not (v1, zero).",
    DEFAULTS,
    _measure_of,
)
