"""Recall of retrieved documents: whether, or how many of, the right ones are found.

Source: DocumentRecallEvaluator of Haystack 3.4. Documents with the same value count
once, and those without a value, or with an empty text, never.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.documents import DEFAULTS as COMMON
from harpia_formats.evaluation.metrics.documents import Key, document_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters

DEFAULTS = {"mode": "single_hit", **COMMON}
_NOTHING = {None, ""}
#: The score from the number of right documents that were found, and of all right ones.
_MODES: dict[str, Callable[[int, int], float]] = {
    "single_hit": lambda found, _: float(found > 0),
    "multi_hit": lambda found, right: found / right,
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("document-recall", DEFAULTS, given)
    mode = parameters.choice("mode", tuple(_MODES))
    ratio = _MODES[mode]

    def recall(found: list[Key], truth: list[Key], _: Sequence[Any]) -> float:
        right = set(truth) - _NOTHING
        return ratio(len(right.intersection(found)), len(right)) if right else 0.0

    return document_measure("document-recall", parameters, recall, f"|mode:{mode}")


METRIC = Metric(
    "document-recall",
    "The mean recall of retrieved documents: whether any ground-truth document was "
    "retrieved, or with the mode multi_hit the share that was.",
    DEFAULTS,
    _measure_of,
)
