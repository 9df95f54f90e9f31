"""Check what a configuration asks for and cannot get (N303-N309)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.config import METRICS, OLDER_METRICS, tasks_of
from harpia_converters.nemo.results_tree import Placed, members_of
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import path_text, short_json

TEMPLATE, METRIC_KEY, NO_METRICS, TASK_TYPE = "N303", "N304", "N305", "N306"
COUNT, CHECK, SAME_FILE = "N307", "N308", "N309"

_similarity = "similarity_metrics"
#: Parameters that count or time something, and the least value of each.
_least = {
    "max_tokens": 1,
    "tokens_to_generate": 1,
    "limit_samples": 1,
    "parallelism": 1,
    "request_timeout": 1,
    "max_retries": 0,
}
#: The operations of checks, as nemo_evaluator_sdk reads them.
_difference = "absolute difference"
_operations = {
    "string-check": frozenset(
        "equals|==|!=|<>|not equals|contains|not contains|startswith|endswith".split(
            "|"
        )
    ),
    "number-check": frozenset(
        f"==|!=|>=|>|<=|<|equals|<>|not equals|gte|greater than or equal|gt|"
        f"greater than|lte|less than or equal|lt|less than|{_difference}".split("|")
    ),
}
_operands = ("left_template", "operation", "right_template")
#: Levels of a configuration that are searched for templates.
_depth = 50


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a configuration that its schema allows."""
    if not isinstance(document, Mapping):
        return
    tasks = list(tasks_of(document))
    if document.get("type") == _similarity:
        yield from _no_tasks(document)
        for path, task in tasks:
            yield from _of_similarity(task, path)
        yield from _templates(document)
    for path, owner in (((), document), *tasks):
        yield from _counts(owner, path)
    for path, task in tasks:
        for place, metric in members_of(task, path, "metrics"):
            yield from _checks(metric, place)
    yield from _same_file(document, tasks)


def _no_tasks(document: Mapping[str, Any]) -> Iterator[Remark]:
    if "tasks" in document and not document["tasks"]:
        help_ = "give a task with a dataset and metrics"
        yield Remark(NO_METRICS, ("tasks",), "there are no tasks", help_)


def _of_similarity(task: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield remarks on a task of similarity_metrics, which is at `path`."""
    for part, why in (
        ("dataset", "nothing is evaluated"),
        ("metrics", "nothing is computed"),
    ):
        if not task.get(part):
            place = (*path, part) if part in task else path
            message = f"the task has no {part}, so {why}"
            yield Remark(NO_METRICS, place, message, f"give the {part} of the task")
    kind = task.get("type")
    if isinstance(kind, str) and kind != "default":
        message = (
            f"tasks of {_similarity} have the type default, not {short_json(kind)}"
        )
        help_ = 'write "default", or another type of evaluation'
        yield Remark(TASK_TYPE, (*path, "type"), message, help_)
    for place, metric in members_of(task, path, "metrics"):
        key, of_metric = place[-1], metric.get("type")
        known = (*METRICS, *OLDER_METRICS)
        if key in known and of_metric in known and key != of_metric:
            message = f"the metric {key} is of the type {of_metric}, another metric"
            help_ = f'write "{key}" as its type, or name it {of_metric}'
            yield Remark(METRIC_KEY, (*place, "type"), message, help_)


def _templates(document: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark for the first text of similarity_metrics that is a template."""
    pending: list[tuple[Path, Any]] = [((), document)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str) and "{{" in value:
            message = f"{_similarity} fills in no templates such as {short_json(value)}"
            help_ = 'remove it, or use the type "custom", which has templates'
            yield Remark(TEMPLATE, path, message, help_)
            return
        if len(path) < _depth:
            pending += [(step, item) for step, item in _below(path, value)][::-1]


def _below(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    items: Any = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        # Texts for people, and the user's own data.
        if key not in {"description", "custom_fields"}:
            yield (*path, key), item


def _counts(owner: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    params = owner.get("params")
    for key, least in _least.items():
        value: Any = params.get(key) if isinstance(params, Mapping) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and value < least:
            place = (*path, "params", key)
            message = f"{path_text(place)} must be at least {least}, not {value}"
            yield Remark(COUNT, place, message, f"change {key}, or remove it")


def _checks(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if a string-check or number-check cannot compare anything."""
    kind, params = metric.get("type"), metric.get("params")
    known = _operations.get(kind) if isinstance(kind, str) else None
    if known is None:
        return
    place, given = path, metric
    if isinstance(params, Mapping) and not {"check", "operation"} & metric.keys():
        place, given = (*path, "params"), params
    check = given.get("check")
    if check is None and set(_operands) <= given.keys():
        yield from _operation(given["operation"], (*place, "operation"), known, given)
        return
    if not isinstance(check, list) or len(check) != len(_operands):
        message = f"a {kind} compares two texts: [left, operation, right]"
        where = (*place, "check") if "check" in given else place
        help_ = "give check with the left side, the operation and the right side"
        yield Remark(CHECK, where, message, help_)
        return
    yield from _operation(check[1], (*place, "check", 1), known, given)


def _operation(
    operation: Any, path: Path, known: frozenset[str], given: Mapping[str, Any]
) -> Iterator[Remark]:
    if not isinstance(operation, str) or operation not in known:
        message = f"there is no operation {short_json(operation)}"
        yield Remark(CHECK, path, message, f"use one of {', '.join(sorted(known))}")
    elif operation == _difference and "epsilon" not in given:
        message = f"{_difference} needs an epsilon, the largest difference"
        yield Remark(CHECK, path, message, 'give "epsilon", a number')
    elif operation != _difference and given.get("epsilon") is not None:
        message = f"epsilon is for {_difference} only"
        yield Remark(CHECK, path, message, f'use "{_difference}", or remove epsilon')


def _same_file(document: Mapping[str, Any], tasks: list[Placed]) -> Iterator[Remark]:
    """Yield a remark if the answers are read from the file of the questions."""
    target = document.get("target")
    path: Path = ("target", "cached_outputs")
    cached = target.get("cached_outputs") if isinstance(target, Mapping) else None
    model = target.get("model") if isinstance(target, Mapping) else None
    if isinstance(model, Mapping) and cached is None:
        path, cached = (
            ("target", "model", "cached_outputs"),
            model.get("cached_outputs"),
        )
    answers = cached.get("files_url") if isinstance(cached, Mapping) else None
    for _, task in tasks:
        dataset = task.get("dataset")
        url = dataset.get("files_url") if isinstance(dataset, Mapping) else dataset
        if isinstance(answers, str) and answers == url:
            message = "the answers have the address of the questions of a task"
            help_ = "give the address of the output.json with the answers"
            yield Remark(SAME_FILE, (*path, "files_url"), message, help_)
            return


LINTS = Lints(
    rows=(
        RowLint(
            (TEMPLATE, METRIC_KEY, NO_METRICS, TASK_TYPE, COUNT, CHECK, SAME_FILE),
            remarks,
        ),
    )
)
