"""All metrics: one module for each, in one table by name."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.extensions import entry_points
from harpia_formats.metrics import (
    accuracy,
    bertscore,
    bleu,
    cer,
    chrf,
    document_map,
    document_mrr,
    document_ndcg,
    document_recall,
    exact_match,
    fuzzy_match,
    multiple_choice,
    nltk_bleu,
    number_check,
    number_match,
    rouge,
    sentence_bleu,
    string_check,
    ter,
    token_f1,
    wer,
)
from harpia_formats.metrics.metric import Measure, Metric, MetricError, UnscorableError
from harpia_formats.text.spelling import nearest

#: Every built-in metric by its name.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        exact_match.METRIC,
        accuracy.METRIC,
        token_f1.METRIC,
        fuzzy_match.METRIC,
        multiple_choice.METRIC,
        string_check.METRIC,
        number_check.METRIC,
        number_match.METRIC,
        bleu.METRIC,
        sentence_bleu.METRIC,
        nltk_bleu.METRIC,
        rouge.METRIC,
        *rouge.METRICS,
        chrf.METRIC,
        ter.METRIC,
        wer.METRIC,
        cer.METRIC,
        document_map.METRIC,
        document_mrr.METRIC,
        document_ndcg.METRIC,
        document_recall.METRIC,
        bertscore.METRIC,
    )
}


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, the built-in ones first, then plug-ins'.

    A metric is named whether or not the packages that it needs are installed. Raises
    `PluginError` if a plug-in has the name of a built-in metric.
    """
    entry_points.check_names(entry_points.METRICS, METRICS)
    return (*METRICS, *entry_points.plugin_names(entry_points.METRICS))


def plugin_metric(name: str) -> Metric | None:
    """Return the metric of a plug-in that is called `name`, None if there is none.

    Raises `PluginError` if the plug-in cannot be used.
    """
    entry_points.check_names(entry_points.METRICS, METRICS)
    metric = entry_points.plugin_named(entry_points.METRICS, name, Metric)
    if metric is not None and metric.name != name:
        reason = f"the metric is called {metric.name!r}"
        raise entry_points.plugin_error(entry_points.METRICS, name, reason)
    return metric


def measure_of(name: str, parameters: Mapping[str, Any]) -> Measure:
    """Return the metric called `name` with its parameters settled.

    Raises `MetricError` for an unknown name or parameter, a bad value, and a package
    that is not installed, and `PluginError` for a plug-in that cannot be used.
    """
    metric = METRICS.get(name) or plugin_metric(name)
    if metric is not None:
        return metric.build(parameters)
    known_names = metric_names()
    near = nearest(name, known_names)
    meant = f"; did you mean {near}?" if near else ""
    known = ", ".join(known_names)
    raise MetricError(f"no metric is called {name!r} (known: {known}){meant}")


__all__ = [
    "METRICS",
    "Measure",
    "Metric",
    "MetricError",
    "UnscorableError",
    "measure_of",
    "metric_names",
    "plugin_metric",
]
