"""All metrics, in one table by name.

To read in this order: `metric` (what a metric is), `label_counts` (labels), then one
module for each kind of metrics, and `text` (tokens, numbers and choices in texts).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics import (
    bleu_and_chrf,
    error_rates,
    label_metrics,
    numbers_and_choices,
    question_metrics,
    retrieval,
    rouge,
    text_match,
    tool_scorers,
)
from harpia_formats.evaluation.metrics.metric import (
    MOST,
    Metric,
)
from harpia_formats.evaluation.metrics.metric import Measure as Measure
from harpia_formats.evaluation.metrics.metric import MetricError as MetricError
from harpia_formats.evaluation.metrics.metric import UnscorableError as UnscorableError
from harpia_formats.formats import extensions
from harpia_formats.model.spelling import hint_on, nearest

#: Every built-in metric by its name.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *text_match.METRICS,
        numbers_and_choices.CHOICE_METRIC,
        *label_metrics.METRICS,
        text_match.STRING_CHECK_METRIC,
        *numbers_and_choices.METRICS,
        *question_metrics.METRICS,
        *bleu_and_chrf.METRICS,
        rouge.METRIC,
        *rouge.METRICS,
        bleu_and_chrf.CHRF_METRIC,
        *error_rates.METRICS,
        *retrieval.METRICS,
        *tool_scorers.METRICS,
        *text_match.LENGTH_METRICS,
    )
}
#: Names of several metrics. That of labels has those that need no parameter.
GROUPS: dict[str, tuple[str, ...]] = {
    "f1-label": tuple(
        metric.name
        for metric in label_metrics.METRICS
        if metric is not label_metrics.F1_BINARY_METRIC
    ),
    "documents": tuple(metric.name for metric in retrieval.METRICS),
}
#: What most runs need, which `score --help` names.
USUAL = (
    *("em", "accuracy", "f1", "f1-label", "rouge", "bleu", "chrf", "ter", "wer"),
    *("number-match", "multiple-choice", "pass@k", "maj@k", "documents"),
)
#: Metrics of the plug-in that is in the repository of this package.
NEURAL = ("sas", "bertscore")
HOW_TO_INSTALL = (
    "`pip install ./integrations/neural-metrics` in a clone of harpia-formats"
)


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, the built-in ones first, then plug-ins'.

    A metric is named whether or not the packages that it needs are installed. Raises
    `PluginError` if a plug-in has the name of a built-in metric.
    """
    extensions.check_names(extensions.METRICS, METRICS)
    return (*METRICS, *extensions.plugin_names(extensions.METRICS))


def plugin_metric(name: str) -> Metric | None:
    """Return the metric of a plug-in that is called `name`, None if there is none.

    Raises `PluginError` if the plug-in cannot be used.
    """
    extensions.check_names(extensions.METRICS, METRICS)
    metric = extensions.plugin_named(extensions.METRICS, name, Metric)
    if metric is not None and metric.name != name:
        reason = f"the metric is called {metric.name!r}"
        raise extensions.plugin_error(extensions.METRICS, name, reason)
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
    """Return the metric called `name` with a value for each parameter.

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
    if name in NEURAL:
        raise MetricError(
            f"the metric {name} is in a plug-in that is not installed: {HOW_TO_INSTALL}"
        )
    known_names = metric_names()
    raise MetricError(f"no metric is called {name!r}{metric_hint(name, known_names)}")
