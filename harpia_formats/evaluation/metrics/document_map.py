"""Mean average precision (MAP): how high the right documents are ranked.

Source: DocumentMAPEvaluator of Haystack 3.4. The average is over all ground-truth
documents with different values; each counts the first time that it is retrieved.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.documents import DEFAULTS, Key, document_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters


def average_precision(
    found: list[Key], truth: list[Key], _: Sequence[Any] = ()
) -> float:
    """Return the average precision of a ranking, 0 if no document is right."""
    left = set(truth) - {None}
    right, total, hits = len(left), 0.0, 0
    for rank, key in enumerate(found, 1):
        if key in left:
            left.remove(key)
            hits += 1
            total += hits / rank
    return total / right if right else 0.0


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("document-map", DEFAULTS, given)
    return document_measure("document-map", parameters, average_precision)


METRIC = Metric(
    "document-map",
    "The mean average precision of retrieved documents: the precision at the rank of "
    "each ground-truth document, 0 for one that was not retrieved.",
    DEFAULTS,
    _measure_of,
)
