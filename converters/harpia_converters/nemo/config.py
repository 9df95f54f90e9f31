"""nemo-config: what is evaluated and how, with tasks by name or in a list."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeGuard

from harpia_converters.nemo import results
from harpia_converters.nemo.results_tree import members_of
from harpia_converters.nemo.row_checks import VENDOR
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path
from harpia_formats.text.describe import short_json

UNKNOWN_METRIC, PARAMETER_RANGE = "N301", "N302"
#: The metrics of similarity_metrics, a closed list.
METRICS = ("accuracy", "bleu", "rouge", "em", "f1")
#: Those that configurations with a list of tasks have besides.
OLDER_METRICS = ("bert",)
#: Texts that end the generation, at most.
STOPS = 4

_bodies = ("tasks", "params", "groups", "target")
#: Keys of records, which a configuration has not.
_of_records = frozenset("prompt input messages outputs model_outputs instances".split())


def sniff(document: Mapping[str, Any], *, listed: bool) -> str:
    """Return the sign that `document` is a configuration, or "" if it is none.

    `listed` tells the dialect: tasks in a list, or by name.
    """
    tasks = document.get("tasks")
    if isinstance(tasks, list) != listed or _of_records & document.keys():
        return ""
    if results.sniff(document):
        return ""
    if isinstance(document.get("type"), str):
        bodies = (key for key in _bodies if key in document)
        return next((f"`type` and `{key}`" for key in bodies), "")
    for _, task in tasks_of(document):
        if "dataset" in task:
            return "`tasks` with `dataset` in it"
    return ""


def tasks_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the tasks, whether they are in a list or by name, and where they are."""
    tasks = document.get("tasks")
    if not isinstance(tasks, list):
        yield from members_of(document, (), "tasks")
        return
    for index, task in enumerate(tasks):
        if isinstance(task, Mapping):
            yield ("tasks", index), task


def remarks(document: Any) -> Iterator[Remark]:
    """Yield what the service is not known to take."""
    if not isinstance(document, Mapping):
        return
    if document.get("type") == "similarity_metrics":
        for path, task in tasks_of(document):
            yield from _unknown_metrics(task, path)
    params = document.get("params")
    if isinstance(params, Mapping):
        yield from _out_of_range(params)


def _unknown_metrics(task: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    is_older = isinstance(task.get("metrics"), list)
    known = (*METRICS, *OLDER_METRICS) if is_older else METRICS
    for place, kind in _kinds_of(task, path):
        if isinstance(kind, str) and kind not in known:
            yield Remark(
                UNKNOWN_METRIC,
                place,
                f"{short_json(kind)} is not known as a metric of similarity_metrics",
                f"use one of {', '.join(known)}",
            )


def _kinds_of(task: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield which metrics a task names, and where."""
    metrics = task.get("metrics")
    if isinstance(metrics, list):
        for index, item in enumerate(metrics):
            if isinstance(item, Mapping):
                yield (*path, "metrics", index, "name"), item.get("name")
    for place, metric in members_of(task, path, "metrics"):
        yield (*place, "type"), metric.get("type")


def _out_of_range(params: Mapping[str, Any]) -> Iterator[Remark]:
    temperature, top_p = params.get("temperature"), params.get("top_p")
    if _is_number(temperature) and not 0 < temperature <= 1:
        yield _beyond("temperature", "is to be above 0 and at most 1")
    if _is_number(top_p) and not 0 <= top_p <= 1:
        yield _beyond("top_p", "is to be from 0 to 1")
    stop = params.get("stop")
    if isinstance(stop, list) and len(stop) > STOPS:
        yield _beyond("stop", f"is to hold at most {STOPS} texts")


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _beyond(key: str, bounds: str) -> Remark:
    return Remark(
        PARAMETER_RANGE,
        ("params", key),
        f"params.{key} {bounds}, as NVIDIA's client describes it",
        f"give another {key}, or none; the service may refuse this one",
    )


FORMAT = Format(
    id="nemo-config",
    title="What is evaluated and how, with tasks and metrics",
    vendor=VENDOR,
    dialects=(
        Dialect(
            "nemo-config",
            partial(sniff, listed=False),
            container=Container.DOCUMENT,
            strict="nemo-config-strict",
            remarks=remarks,
        ),
        Dialect(
            "nemo-config-list",
            partial(sniff, listed=True),
            "list",
            container=Container.DOCUMENT,
            strict="nemo-config-list-strict",
            remarks=remarks,
            documented=False,
        ),
    ),
)
