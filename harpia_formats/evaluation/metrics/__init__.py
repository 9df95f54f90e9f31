"""All metrics: one module for each, in one table by name."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics import (
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
    inspect_scorers,
    kappa,
    label_f1,
    length,
    lm_eval_acc,
    lm_eval_exact_match,
    maj_at_k,
    mcc,
    multiple_choice,
    nltk_bleu,
    number_check,
    number_match,
    pass_at_k,
    precision,
    recall,
    relative_length,
    rouge,
    sas,
    sentence_bleu,
    string_check,
    ter,
    token_f1,
    wer,
)
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    MetricError,
    UnscorableError,
)
from harpia_formats.evaluation.metrics.parameters import MOST
from harpia_formats.formats.extensions import entry_points
from harpia_formats.model.text.spelling import hint_on, nearest

#: Every built-in metric by its name.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        exact_match.METRIC,
        accuracy.METRIC,
        token_f1.METRIC,
        fuzzy_match.METRIC,
        multiple_choice.METRIC,
        precision.METRIC,
        recall.METRIC,
        *label_f1.METRICS,
        mcc.METRIC,
        kappa.METRIC,
        string_check.METRIC,
        number_check.METRIC,
        number_match.METRIC,
        pass_at_k.METRIC,
        maj_at_k.METRIC,
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
        lm_eval_exact_match.METRIC,
        lm_eval_acc.METRIC,
        *inspect_scorers.METRICS,
        length.METRIC,
        relative_length.METRIC,
        sas.METRIC,
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


def numbered(name: str) -> tuple[str, int | None]:
    """Return the metric and the k that a name such as `pass@5` means: `pass@k`, 5.

    Any other name is returned as it is, without a k.
    """
    head, _, number = name.rpartition("@")
    metric = f"{head}@k"
    if metric not in METRICS or not re.fullmatch("[1-9][0-9]{0,8}", number):
        return name, None
    return metric, int(number)


def metric_hint(name: str, known: Iterable[str]) -> str:
    """Return what an unknown `name` may mean, as the end of a sentence.

    It is the known name that `name` misspells, of `pas@5` with the same number, or
    else all known names. Of `pass@0` it is what the number must be.
    """
    head, at, number = name.rpartition("@")
    if at and f"{head}@k" in METRICS:
        return f"; k of {head}@k is a whole number from 1 to {MOST}, as in {head}@5"
    numbered_name = nearest(f"{head}@k", known) if at else ""
    if numbered_name.endswith("@k"):
        return f"; did you mean {numbered_name.removesuffix('k')}{number}?"
    return hint_on(name, known)


def measure_of(name: str, parameters: Mapping[str, Any]) -> Measure:
    """Return the metric called `name` with its parameters settled.

    A name such as `pass@5` is that of `pass@k` with this k.

    Raises `MetricError` for an unknown name or parameter, a bad value, and a package
    that is not installed, and `PluginError` for a plug-in that cannot be used.
    """
    whole, k = numbered(name)
    if k is not None:
        if "k" in parameters:
            raise MetricError(f"the name {name} says k: leave out the parameter k")
        parameters = {**parameters, "k": k}
    metric = METRICS.get(whole) or plugin_metric(whole)
    if metric is not None:
        return metric.build(parameters)
    known_names = metric_names()
    raise MetricError(f"no metric is called {name!r}{metric_hint(name, known_names)}")


__all__ = [
    "METRICS",
    "Measure",
    "Metric",
    "MetricError",
    "UnscorableError",
    "measure_of",
    "metric_hint",
    "metric_names",
    "numbered",
    "plugin_metric",
]
