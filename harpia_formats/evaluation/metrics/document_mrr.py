"""Mean reciprocal rank (MRR): how high the first right document is ranked.

Source: DocumentMRREvaluator of Haystack 3.4.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.documents import DEFAULTS, Key, document_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters


def reciprocal_rank(found: list[Key], truth: list[Key], _: Sequence[Any] = ()) -> float:
    """Return 1 by the rank of the first right document, 0 if there is none."""
    right = set(truth) - {None}
    return next((1 / rank for rank, key in enumerate(found, 1) if key in right), 0.0)


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("document-mrr", DEFAULTS, given)
    return document_measure("document-mrr", parameters, reciprocal_rank)


METRIC = Metric(
    "document-mrr",
    "The mean reciprocal rank of the first ground-truth document among the retrieved "
    "ones, 0 if none was retrieved.",
    DEFAULTS,
    _measure_of,
)
