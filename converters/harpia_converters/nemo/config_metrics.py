"""Read which metrics a NeMo configuration asks for, and for which task."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.nemo.config import tasks_of
from harpia_converters.nemo.metric_definitions import SDK, SIMILARITY, MetricDefinitions
from harpia_converters.nemo.metric_request import requests_for
from harpia_formats.model.metric_profile import (
    MetricConfiguration,
    MetricRequest,
    ScoreError,
)
from harpia_formats.model.text.describe import short_json

#: Keys beside the type of a metric, by which one of the open SDK is recognised.
_sdk_keys = frozenset({"reference", "references", "candidate", "left_template"})
_nothing = "no task of the configuration names a metric"


@dataclass(frozen=True, slots=True)
class _Task:
    """A task with metrics."""

    #: Its name, else its number in the list.
    name: str
    #: Not validated yet.
    metrics: Any
    #: Whether `name` is in the configuration.
    is_named: bool = True


def configured_metrics(
    document: Any, names: Mapping[str, str], *, other: MetricDefinitions
) -> MetricConfiguration:
    """Return the metrics of a decoded configuration.

    Of several tasks the one that `names["task"]` names is taken. `other` has the
    definitions of metrics that are neither of similarity_metrics nor, by their keys, of
    the open SDK. Raises `ScoreError` if there is no such task or metric.
    """
    if not isinstance(document, Mapping):
        raise ScoreError("a configuration of NeMo is an object: give one")
    task = _chosen(list(_tasks_in(document)), names.get("task", ""))
    is_similarity = document.get("type") == "similarity_metrics"
    requests: list[MetricRequest] = []
    for key, metric in _metrics_in(task):
        # In a list of tasks, metrics have a `name` and are of similarity_metrics.
        is_older = "type" not in metric and "name" in metric
        definitions = other
        if is_similarity or is_older:
            definitions = SIMILARITY
        elif "params" not in metric and _sdk_keys & metric.keys():
            definitions = SDK
        requests += requests_for(key, metric, definitions)
    if not requests:
        raise ScoreError(_nothing)
    return MetricConfiguration(tuple(requests), task.name if task.is_named else "")


def _tasks_in(document: Mapping[str, Any]) -> Iterator[_Task]:
    """Yield the tasks with metrics; a document without tasks is one without a name."""
    for (_, at), task in tasks_of(document):
        if task.get("metrics"):
            name = at if isinstance(at, str) else task.get("name")
            is_named = isinstance(name, str)
            label = f"{name}" if is_named else f"{int(at) + 1}"
            yield _Task(label, task["metrics"], is_named)
    if document.get("tasks"):
        return
    if document.get("metrics"):
        yield _Task("", document["metrics"])
    elif isinstance(document.get("metric"), Mapping):
        yield _Task("", [document["metric"]])
    elif _sdk_keys & document.keys():
        yield _Task("", [document])


def _chosen(tasks: list[_Task], wanted: str) -> _Task:
    if not tasks:
        raise ScoreError(_nothing)
    for task in tasks:
        if wanted and task.name == wanted:
            return task
    if len(tasks) > 1:
        known = ", ".join(task.name for task in tasks)
        found = f"no task called {wanted!r}" if wanted else "several tasks"
        raise ScoreError(
            f"the configuration has {found}; give --name task=NAME with one of {known}"
        )
    return tasks[0]


def _metrics_in(task: _Task) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the content of each metric of a task."""
    given = task.metrics
    if not isinstance(given, Mapping | list):
        raise ScoreError(f"metrics are an object or a list, not {short_json(given)}")
    listed: Iterable[tuple[str, Any]] = (
        given.items()
        if isinstance(given, Mapping)
        else [("", metric) for metric in given]
    )
    for key, metric in listed:
        if not isinstance(metric, Mapping):
            raise ScoreError(
                f"a metric is an object with a type, not {short_json(metric)}"
            )
        kind = metric.get("type", metric.get("name"))
        if not isinstance(kind, str):
            raise ScoreError(f"the metric {key or short_json(metric)} has no type")
        own = metric.get("name")
        yield key or (own if isinstance(own, str) and own else kind), metric
