"""The format nemo-config: an evaluation, with tasks by name or in a list."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeGuard

from harpia_converters.nemo import results
from harpia_converters.nemo.detection import VENDOR
from harpia_converters.nemo.results_tree import members_of
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json

UNKNOWN_METRIC, PARAMETER_RANGE = "N301", "N302"
#: The metrics of similarity_metrics, a closed list.
METRICS = ("accuracy", "bleu", "rouge", "em", "f1")
#: Further metrics of configurations with a list of tasks.
OLDER_METRICS = ("bert",)
#: The most texts in `stop`.
STOPS = 4

#: Keys of which a task has at least one.
_task_keys = frozenset({"dataset", "metrics"})
#: Keys of a target of which each kind has one.
_target_keys = frozenset("cached_outputs dataset model rag retriever rows".split())
#: The evaluation type whose name no other tool has.
_own_type = "similarity_metrics"
_bodies = ("tasks", "params", "groups", "target")
#: Keys of records; a document with any of them is no configuration.
_record_keys = frozenset(
    "prompt input messages outputs model_outputs instances".split()
)


def sniff(document: Mapping[str, Any], *, listed: bool) -> str:
    """Return by which keys `document` is a configuration, or "".

    `listed` selects the dialect: tasks in a list, or tasks by name.
    """
    tasks = document.get("tasks")
    if isinstance(tasks, list) != listed or _record_keys & document.keys():
        return ""
    if results.sniff(document):
        return ""
    if not isinstance(document.get("type"), str):
        has_dataset = any("dataset" in task for _, task in tasks_of(document))
        return "`tasks` with `dataset` in it" if has_dataset else ""
    body = _known_body(document)
    if not body and document["type"] == _own_type:
        body = next((key for key in _bodies if key in document), "")
    return body and f"`type` and `{body}`"


def _known_body(document: Mapping[str, Any]) -> str:
    """Return the key of a part that only configurations have, or ""."""
    if any(_task_keys & task.keys() for _, task in tasks_of(document)):
        return "tasks"
    target = document.get("target")
    if isinstance(target, Mapping) and _target_keys & target.keys():
        return "target"
    groups = members_of(document, (), "groups")
    return "groups" if any("tasks" in group for _, group in groups) else ""


def tasks_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path and the content of each task, in a list or by name."""
    tasks = document.get("tasks")
    if not isinstance(tasks, list):
        yield from members_of(document, (), "tasks")
        return
    for index, task in enumerate(tasks):
        if isinstance(task, Mapping):
            yield ("tasks", index), task


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on metrics and parameters that the service may refuse (N3)."""
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
                f"{short_json(kind)} is not a known metric of similarity_metrics",
                f"use one of {', '.join(known)}",
            )


def _kinds_of(task: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the value of the kind of each metric of a task."""
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
        yield _beyond("temperature", "must be above 0 and at most 1")
    if _is_number(top_p) and not 0 <= top_p <= 1:
        yield _beyond("top_p", "must be from 0 to 1")
    stop = params.get("stop")
    if isinstance(stop, list) and len(stop) > STOPS:
        yield _beyond("stop", f"must have at most {STOPS} texts")


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _beyond(key: str, bounds: str) -> Remark:
    return Remark(
        PARAMETER_RANGE,
        ("params", key),
        f"params.{key} {bounds}, according to NVIDIA's client",
        f"change or remove {key}: the service may refuse it",
    )


FORMAT = Format(
    id="nemo-config",
    title="The configuration of an evaluation, with tasks and metrics",
    vendor=VENDOR,
    dialects=(
        Dialect(
            "nemo-config",
            partial(sniff, listed=False),
            container=Container.DOCUMENT,
            strict="nemo-config-strict",
            remarks=remarks,
            lints="harpia_converters.nemo.config_lints:LINTS",
            one_of=frozenset({"type", "tasks"}),
        ),
        Dialect(
            "nemo-config-list",
            partial(sniff, listed=True),
            "list",
            container=Container.DOCUMENT,
            strict="nemo-config-list-strict",
            remarks=remarks,
            lints="harpia_converters.nemo.config_lints:LINTS",
            documented=False,
            one_of=frozenset({"tasks"}),
        ),
    ),
)
