"""Normalised discounted cumulative gain (NDCG) of a ranking of documents.

Source: DocumentNDCGEvaluator of Haystack 3.4. The gain of a document is the `score` of
the ground-truth document with the same value, or 1 if these have no scores; of several
with the same value the highest counts, and each value once. The discount is the
logarithm to base 2 of the rank plus 1.
"""

from collections.abc import Mapping, Sequence
from math import isinf, log2
from typing import Any

from harpia_formats.evaluation.metrics.documents import DEFAULTS, Key, document_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric, UnscorableError
from harpia_formats.evaluation.metrics.parameters import is_number, read_parameters


def ndcg(found: list[Key], truth: list[Key], documents: Sequence[Any]) -> float:
    """Return the NDCG of a ranking, 0 if no document has a gain.

    Raises `UnscorableError` if some ground-truth documents have a score and others do
    not, and for a score that is no number from 0, or too large.
    """
    gains: dict[Key, float] = {}
    for key, gain in zip(truth, _gains(documents), strict=True):
        if key is not None:
            gains[key] = max(gains.get(key, gain), gain)
    ideal = _discounted(sorted(gains.values(), reverse=True))
    if isinf(ideal):
        raise UnscorableError("the scores of ground-truth documents are too large")
    actual = _discounted([gains.pop(key, 0.0) for key in found])
    # Rounding may put the ratio of nearly equal gains slightly above 1.
    return min(actual / ideal, 1.0) if ideal > 0 else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _gains(documents: Sequence[Any]) -> list[float]:
    scores = [
        document.get("score") if isinstance(document, Mapping) else None
        for document in documents
    ]
    given = [score for score in scores if score is not None]
    if not given:
        return [1.0] * len(scores)
    if len(given) < len(scores):
        raise UnscorableError(
            "some ground-truth documents have a score, and others have none"
        )
    if not all(is_number(score) and score >= 0 for score in given):
        raise UnscorableError(
            "the score of a ground-truth document is no number of at least 0"
        )
    return [float(score) for score in given]


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("document-ndcg", DEFAULTS, given)
    return document_measure("document-ndcg", parameters, ndcg)


METRIC = Metric(
    "document-ndcg",
    "The mean NDCG of retrieved documents: the gain of each ground-truth document, "
    "discounted by the logarithm of its rank, by that of the best ranking.",
    DEFAULTS,
    _measure_of,
)
