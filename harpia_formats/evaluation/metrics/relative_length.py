"""Relative length: the length of all answers by that of all references.

Of several references the one whose length is the closest counts, as in BLEU, or the
first. The best is neither high nor low: 1 means as long as the references.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.metric import Measure, Metric, Statistics
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import references_by_rule
from harpia_formats.evaluation.metrics.text.lengths import LENGTHS

DEFAULTS = {"unit": "words", "references": "closest"}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("relative-length", DEFAULTS, given)
    unit = parameters.choice("unit", tuple(LENGTHS))
    rule = parameters.choice("references", ("closest", "first"))
    length = LENGTHS[unit]

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        mine = length(answer)
        others = map(length, references_by_rule(references, rule))
        # Of two that are as close the shorter one counts.
        closest = min(others, key=lambda other: (abs(other - mine), other))
        return (float(mine), float(closest), 1.0)

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        return (sums[0] / sums[1] if sums and sums[1] else None,)

    signature = f"relative-length|{OWN_LIBRARY}|unit:{unit}|refs:{rule}|scale:any"
    return Measure(
        ("relative-length",),
        signature,
        "any",
        statistics,
        scores,
        lower_is_better=None,
    )


METRIC = Metric(
    "relative-length",
    "The length of all answers by that of all references, each the closest one of its "
    "record; 1 is as long, and references without a word add nothing to divide by.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
