"""What the signature of a stored score says of it."""

import math

from harpia_formats.metrics import METRICS
from harpia_formats.metrics.metric import BEST


def is_pooled(name: str, signature: str) -> bool:
    """Tell whether a score of a whole data set is not the mean of those of its rows.

    The signature decides, and the name of the metric without one.
    """
    metric = METRICS.get((signature or name).partition("|")[0])
    return metric is not None and metric.is_pooled


def declared_best(signature: str) -> float:
    """Return the best score on the scale that a signature declares, else infinity."""
    parts = signature.split("|")
    found = (best for scale, best in BEST.items() if f"scale:{scale}" in parts)
    return next(found, math.inf)
