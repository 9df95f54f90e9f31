"""The lints of rows (N111-N114), results (N204-N205), configurations (N303-N309)."""

import re
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from typing import Any

from harpia_converters.nemo.formats import (
    METRICS,
    OLDER_METRICS,
    SHARES,
    Placed,
    members_of,
    scores_of,
    tasks_of,
)
from harpia_formats.formats.rules.sample_rules import NEAR_DUPLICATE
from harpia_formats.model.describe import path_text, short_json
from harpia_formats.model.exact_json import float_of, is_near
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    Lints,
    RowLint,
    SameMistake,
)
from harpia_formats.model.problem import Path

REPEATED_QUESTION, OTHER_MODEL, LIST_AS_TEXT, CATEGORY = "N111", "N112", "N113", "N114"

#: A list of texts, as JSON or Python writes it.
_list_text = re.compile(r"""\s*\[\s*(["']).*\1\s*\]\s*""", re.DOTALL)


def _list_remarks(path: Path) -> Callable[[Any], Iterator[Remark]]:
    """Return what yields a remark if the text at `path` is a list of texts."""

    def remarks(row: Any) -> Iterator[Remark]:
        value = row
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str) and _list_text.fullmatch(value):
            yield Remark(
                LIST_AS_TEXT,
                path,
                f"the ideal response is a list as text: {short_json(value)}",
                "give one text; NeMo compares the answer with it as it is",
            )

    return remarks


def _is_plain(path: Path) -> Callable[[Any], bool]:
    """Return what tells whether a typed row has no list as text at `path`."""
    keys = [str(key) for key in path]

    def is_clean(row: Any) -> bool:
        value = row
        for key in keys:
            value = getattr(value, key)
        return type(value) is str and not value.lstrip().startswith("[")

    return is_clean


def _bare(value: Any) -> str | None:
    """Return a category without case and spaces around it; None for an empty one."""
    return value.casefold().strip() or None if isinstance(value, str) else None


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _repeated(found: Disagreement) -> str:
    return f"{found.owner} has the same question and ideal response"


def _other_model(found: Disagreement) -> str:
    return (
        f"the answer is of {short_json(found.value)}, but that of {found.owner} of "
        f"{short_json(found.earlier)}"
    )


def _other_spelling(found: Disagreement) -> str:
    return (
        f"the category is {short_json(found.value)}, but {found.owner} has "
        f"{short_json(found.earlier)}"
    )


def _lints(
    prompt: Path, reference: Path, category: Path | None = None, model: Path = ()
) -> Lints:
    """Return the lints of rows that have a question, and a model, at these paths."""
    identity = (prompt, reference, *([model] if model else ()))
    across = [
        AcrossRows(
            REPEATED_QUESTION,
            Agreement.UNIQUE,
            identity,
            _repeated,
            "remove one of them: NeMo finds the answer to a question by its content",
        )
    ]
    if category:
        across.append(
            AcrossRows(
                CATEGORY,
                Agreement.BY_KEY,
                (category,),
                _other_spelling,
                "spell a category in one way",
                key=(category,),
                value_text=_as_text,
                key_text=_bare,
            )
        )
    if model:
        across.append(
            AcrossRows(
                OTHER_MODEL,
                Agreement.ONE_VALUE,
                (model,),
                _other_model,
                "give each model a file of its own",
            )
        )
    row = RowLint(
        (LIST_AS_TEXT,), _list_remarks(reference), is_clean=_is_plain(reference)
    )
    same = (SameMistake(REPEATED_QUESTION, NEAR_DUPLICATE),)
    return Lints((row,), tuple(across), same=same)


INPUT = _lints(("prompt",), ("ideal_response",), ("category",))
OUTPUT = _lints(
    ("input", "prompt"),
    ("input", "ideal_response"),
    ("input", "category"),
    ("llm_name",),
)
FLAT = _lints(("prompt",), ("ideal_response",), ("category",))
REFERENCE = _lints(("input",), ("reference",))


ABOVE_ONE, STATS = "N204", "N205"


def result_lint_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on scores beyond their bounds, or with wrong statistics."""
    if not isinstance(document, Mapping):
        return
    for place, score in scores_of(document):
        value, stats = float_of(score.get("value")), score.get("stats")
        if place[-1] in SHARES and value is not None and not 0 <= value <= 1:
            yield _beyond_share(place)
        if isinstance(stats, Mapping):
            at, message = _contradiction(stats, value)
            if at:
                help_ = "compute it again from the scores of the rows"
                yield Remark(STATS, (*place, "stats", at), message, help_)


def _beyond_share(place: Path) -> Remark:
    return Remark(
        ABOVE_ONE,
        (*place, "value"),
        f"{place[-1]} must be from 0 to 1 in results of similarity metrics",
        "divide it by 100 if it is a percentage; NVIDIA's custom evaluations "
        "give BLEU from 0 to 100, as sentence and corpus",
    )


def _contradiction(stats: Mapping[str, Any], value: float | None) -> tuple[str, str]:
    """Return the name of the first wrong statistic and why it is wrong, else ""."""
    for name in ("count", "nan_count", "variance", "stddev", "stderr"):
        number = float_of(stats.get(name))
        if number is not None and number < 0:
            return name, f"{name} is less than 0"
    mean = float_of(stats.get("mean"))
    wrong = ("", "") if mean is None else _of_mean(mean, stats, value)
    return wrong if any(wrong) else _of_spread(stats)


def _of_mean(
    mean: float, stats: Mapping[str, Any], value: float | None
) -> tuple[str, str]:
    if value is not None and not is_near(value, mean):
        return "mean", f"the mean is {mean:g}, but the value is {value:g}"
    total, count = float_of(stats.get("sum")), float_of(stats.get("count"))
    if total is not None and count and not is_near(mean, total / count):
        return "mean", f"the mean is {mean:g}, but sum / count is {total / count:g}"
    least, most = float_of(stats.get("min")), float_of(stats.get("max"))
    if least is not None and least > mean and not is_near(mean, least):
        return "min", f"the minimum {least:g} is above the mean {mean:g}"
    if most is not None and most < mean and not is_near(mean, most):
        return "max", f"the maximum {most:g} is below the mean {mean:g}"
    return "", ""


def _of_spread(stats: Mapping[str, Any]) -> tuple[str, str]:
    variance, deviation = float_of(stats.get("variance")), float_of(stats.get("stddev"))
    if variance is None or deviation is None or is_near(sqrt(variance), deviation):
        return "", ""
    root = sqrt(variance)
    return "stddev", f"stddev is {deviation:g}, but the root of variance is {root:g}"


RESULTS = Lints(rows=(RowLint((ABOVE_ONE, STATS), result_lint_remarks),))


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


def config_lint_remarks(document: Any) -> Iterator[Remark]:
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


CONFIG = Lints(
    rows=(
        RowLint(
            (TEMPLATE, METRIC_KEY, NO_METRICS, TASK_TYPE, COUNT, CHECK, SAME_FILE),
            config_lint_remarks,
        ),
    )
)
