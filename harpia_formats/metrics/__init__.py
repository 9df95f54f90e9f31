"""The shared metric core: one file for each metric, in one table."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.metrics import (
    accuracy,
    bertscore,
    bleu,
    chrf,
    exact_match,
    nltk_bleu,
    number_check,
    rouge,
    sentence_bleu,
    string_check,
    ter,
    token_f1,
)
from harpia_formats.metrics.metric import Measure, Metric, MetricError, UnscorableError
from harpia_formats.text.spelling import nearest

#: Every metric by its name.
METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        exact_match.METRIC,
        accuracy.METRIC,
        token_f1.METRIC,
        string_check.METRIC,
        number_check.METRIC,
        bleu.METRIC,
        sentence_bleu.METRIC,
        nltk_bleu.METRIC,
        rouge.METRIC,
        *rouge.METRICS,
        chrf.METRIC,
        ter.METRIC,
        bertscore.METRIC,
    )
}


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, whether what they need is installed or not."""
    return tuple(METRICS)


def measure_of(name: str, parameters: Mapping[str, Any]) -> Measure:
    """Return the metric called `name` with its parameters settled.

    Raises `MetricError` for an unknown name or parameter, a bad value, and a package
    that is not installed.
    """
    if name in METRICS:
        return METRICS[name].build(parameters)
    near = nearest(name, METRICS)
    meant = f"; did you mean {near}?" if near else ""
    known = ", ".join(METRICS)
    raise MetricError(f"no metric is called {name!r} (known: {known}){meant}")


__all__ = [
    "METRICS",
    "Measure",
    "Metric",
    "MetricError",
    "UnscorableError",
    "measure_of",
    "metric_names",
]
