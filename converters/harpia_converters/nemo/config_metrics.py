"""Which metrics a configuration of NVIDIA's asks for, of which task."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.nemo.config import tasks_of
from harpia_converters.nemo.metric_definitions import SDK, SIMILARITY, Definitions
from harpia_converters.nemo.metric_request import asked_by
from harpia_formats.model.metric_profile import (
    MetricConfiguration,
    MetricRequest,
    ScoreError,
)
from harpia_formats.text.describe import short_json

#: Keys by which a metric of the open SDK is told: there they stand beside its type.
_of_sdk = frozenset({"reference", "references", "candidate", "left_template"})
_nothing = "no task of the configuration names a metric"


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    #: Still to be checked.
    metrics: Any
    #: Whether it has a name of its own; else it goes by its number.
    is_named: bool = True


def configured(
    document: Any, names: Mapping[str, str], *, other: Definitions
) -> MetricConfiguration:
    """Return what a decoded configuration asks for; raises `ScoreError`.

    Of several tasks the one that `names` has as `task` is taken. `other` is what
    metrics mean that are not those of similarity_metrics, nor of the open SDK by form.
    """
    if not isinstance(document, Mapping):
        raise ScoreError("a configuration of NeMo is an object")
    task = _chosen(list(_tasks_in(document)), names.get("task", ""))
    is_similarity = document.get("type") == "similarity_metrics"
    asked: list[MetricRequest] = []
    for key, metric in _metrics_in(task):
        # In a list of tasks, metrics are called by `name`, and of similarity_metrics.
        is_older = "type" not in metric and "name" in metric
        definitions = other
        if is_similarity or is_older:
            definitions = SIMILARITY
        elif "params" not in metric and _of_sdk & metric.keys():
            definitions = SDK
        asked += asked_by(key, metric, definitions)
    if not asked:
        raise ScoreError(_nothing)
    return MetricConfiguration(tuple(asked), task.name if task.is_named else "")


def _tasks_in(document: Mapping[str, Any]) -> Iterator[_Task]:
    """Yield the tasks that have metrics; a document without tasks is a nameless one."""
    for (_, at), task in tasks_of(document):
        if task.get("metrics"):
            name = at if isinstance(at, str) else task.get("name")
            is_named = isinstance(name, str)
            called = f"{name}" if is_named else f"{int(at) + 1}"
            yield _Task(called, task["metrics"], is_named)
    if document.get("tasks"):
        return
    if document.get("metrics"):
        yield _Task("", document["metrics"])
    elif isinstance(document.get("metric"), Mapping):
        yield _Task("", [document["metric"]])
    elif _of_sdk & document.keys():
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
            f"the configuration has {found}; --name task=NAME takes one of {known}"
        )
    return tasks[0]


def _metrics_in(task: _Task) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each metric of a task, and what it is called there."""
    given = task.metrics
    if not isinstance(given, Mapping | list):
        raise ScoreError(
            f"metrics are an object or a list, and not {short_json(given)}"
        )
    listed: Iterable[tuple[str, Any]] = (
        given.items() if isinstance(given, Mapping) else [("", each) for each in given]
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
