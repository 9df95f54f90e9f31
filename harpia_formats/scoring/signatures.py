"""What the signature of a stored score says of it."""

import math
from collections.abc import Iterable

from harpia_formats.metrics import METRICS
from harpia_formats.metrics.metric import BEST


def is_pooled(name: str, signature: str) -> bool:
    """Tell whether a score of a whole data set is not the mean of those of its rows.

    The signature decides, and the name of the metric without one.
    """
    metric = METRICS.get((signature or name).partition("|")[0])
    return metric is not None and metric.is_pooled


def is_verdict(signature: str) -> bool:
    """Tell whether a signature is that of the verdicts of a judge."""
    return signature.partition("|")[0] == "judge"


def declared_scale(name: str, signature: str) -> str | None:
    """Return the scale from 0 on that a signature declares, None without one.

    The signature of verdicts declares the scale of each score by its `name`.
    """
    parts = {*signature.split("|")}
    found = (
        scale for scale in BEST if {f"scale:{scale}", f"scale:{name}={scale}"} & parts
    )
    return next(found, None)


def declared_best(name: str, signature: str) -> float:
    """Return the best score on the scale that a signature declares, else infinity."""
    scale = declared_scale(name, signature)
    return math.inf if scale is None else BEST[scale]


def labels_of(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a name for each metric with a signature: its own if no other has it.

    Else the parts of its signature that others lack stand behind it.
    """
    by_name: dict[str, list[str]] = {}
    for name, signature in keys:
        by_name.setdefault(name, []).append(signature)
    labels = {}
    for name, signatures in by_name.items():
        if len(signatures) == 1:
            labels[name, signatures[0]] = name
            continue
        parts = [signature.split("|") for signature in signatures]
        common = set(parts[0]).intersection(*parts)
        for signature, own in zip(signatures, parts, strict=True):
            left = [part for part in own if part and part not in common]
            labels[name, signature] = "|".join([name, *(left or ["no more parts"])])
    return labels
