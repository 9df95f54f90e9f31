"""What the signature of a stored score says of it."""

from collections.abc import Iterable

from harpia_formats.evaluation.metrics import METRICS


def is_pooled(name: str, signature: str) -> bool:
    """Tell whether a score of a whole data set is not the mean of those of its rows.

    The signature decides, and the name of the metric without one.
    """
    metric = METRICS.get((signature or name).partition("|")[0])
    return metric is not None and metric.is_pooled


def is_verdict(signature: str) -> bool:
    """Tell whether a signature is that of the verdicts of a judge."""
    return signature.partition("|")[0] == "judge"


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
