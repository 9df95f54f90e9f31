"""The formats nemo-input, nemo-output, nemo-results and nemo-config."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, TypeGuard

from harpia_formats.model.describe import path_text, short_json
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path

VENDOR = "NVIDIA NeMo Evaluator"
#: The name of the family of nemo-input and nemo-output.
FAMILY = "nemo"

#: Keys of other vendors' records; a row with any of them is not NeMo's.
FOREIGN_KEYS = frozenset(
    "interaction_type answer_attribution model_outputs messages conversation outputs "
    "instance_id".split()
)
#: Keys of answers; a row with any of them is no question.
ANSWER_KEYS = frozenset({"input", "response", "actual_response", "llm_name"})


def sign_of(row: Mapping[str, Any], *keys: str) -> str:
    """Return `keys` as text if `row` has them all and no other vendor's, else "".

    One of the values must not be a list: an object of lists holds columns, not a row.
    """
    if row.keys() >= {*keys} and FOREIGN_KEYS.isdisjoint(row):
        for key in keys:
            if not isinstance(row[key], list):
                return _named(keys)
    return ""


@cache
def _named(keys: tuple[str, ...]) -> str:
    """Return keys as text."""
    return " and ".join(f"`{key}`" for key in keys)


NO_CATEGORY, UNDOCUMENTED_KEY = "N101", "N102"
#: The documented keys of a question.
QUESTION_KEYS = frozenset({"prompt", "ideal_response", "category", "source"})


def category_remarks(question: Mapping[str, Any], path: Path = ()) -> Iterator[Remark]:
    """Yield a remark if the question at `path` has no category."""
    if "category" not in question:
        yield Remark(
            NO_CATEGORY,
            path,
            f"{path_text((*path, 'category'))} is missing; NVIDIA's page requires it",
            'add "category": ""',
        )


def key_remarks(
    owner: Mapping[str, Any], known: frozenset[str], path: Path = ()
) -> Iterator[Remark]:
    """Yield a remark for each key of the object at `path` that is not in `known`."""
    for key in owner:
        if key not in known:
            yield Remark(
                UNDOCUMENTED_KEY,
                (*path, key),
                f"{short_json(key)} is not a documented key",
                f"use one of {', '.join(sorted(known))}, or remove it",
                at_key=True,
            )


#: Keys by which a question is detected, the most specific first.
_signs = (
    ("prompt", "ideal_response"),
    ("ideal_response",),
    ("prompt", "category"),
    ("prompt", "source"),
)


def input_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a question, or ""."""
    if not ANSWER_KEYS.isdisjoint(row):
        return ""
    # Rows of many tools have these keys, among others.
    if "ideal_response" not in row and not row.keys() <= QUESTION_KEYS:
        return ""
    for keys in _signs:
        sign = sign_of(row, *keys)
        if sign:
            return sign
    return ""


def input_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the keys of a question (N101, N102)."""
    if isinstance(row, Mapping):
        yield from category_remarks(row)
        yield from key_remarks(row, QUESTION_KEYS)


INPUT_FORMAT = Format(
    id="nemo-input",
    title="Questions with their ideal responses (input.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:INPUT",
    dialects=(
        Dialect(
            "nemo-input",
            input_sign,
            strict="nemo-input-strict",
            remarks=input_remarks,
            lints="harpia_converters.nemo.lints:INPUT",
            one_of=frozenset({"prompt", "ideal_response"}),
        ),
    ),
)


NO_MODEL_NAME = "N103"

#: The least keys of an answer and its question by which it is detected: tools that
#: have nothing to do with evaluation write `input.prompt`, and `input` and `response`.
_fewest = 2
_nested_keys = frozenset({"input", "response", "llm_name"})
_flat_keys = QUESTION_KEYS | {"actual_response"}
_reference_keys = frozenset({"input", "reference", "output"})


def output_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an answer with its question in `input`, or ""."""
    question = row.get("input")
    if not isinstance(question, dict):
        return sign_of(row, "response", "llm_name")
    answer = [key for key in ("response", "llm_name") if key in row]
    inside = [key for key in ("prompt", "ideal_response") if key in question]
    if len(answer) + len(inside) < _fewest or not sign_of(row, "input"):
        return ""
    return f"`input` and `{answer[0]}`" if answer else f"`input.{inside[-1]}`"


def sniff_flat(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an answer next to its question, or ""."""
    if output_sign(row):
        return ""
    signs = (
        sign_of(row, key, "actual_response") for key in ("prompt", "ideal_response")
    )
    return next(filter(None, signs), "")


def sniff_reference(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an input, a reference and an output, or ""."""
    if isinstance(row.get("input"), Mapping) or output_sign(row) or sniff_flat(row):
        return ""
    return sign_of(row, "input", "reference", "output")


def output_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an answer with its question in `input` (N101-N103)."""
    if not isinstance(row, Mapping):
        return
    question = row.get("input")
    if isinstance(question, Mapping):
        yield from category_remarks(question, ("input",))
        yield from key_remarks(question, QUESTION_KEYS, ("input",))
    yield from key_remarks(row, _nested_keys)
    if row.get("llm_name") == "":
        yield Remark(
            NO_MODEL_NAME,
            ("llm_name",),
            "llm_name is empty, so the model that answered is not known",
            'give the name of the model, or "offline" as NVIDIA does without a model',
        )


def remarks_flat(row: Any) -> Iterator[Remark]:
    """Yield remarks on an answer next to the keys of its question (N101, N102)."""
    if isinstance(row, Mapping):
        yield from category_remarks(row)
        yield from key_remarks(row, _flat_keys)


def remarks_reference(row: Any) -> Iterator[Remark]:
    """Yield remarks on keys apart from input, reference and output (N102)."""
    if isinstance(row, Mapping):
        yield from key_remarks(row, _reference_keys)


OUTPUT_FORMAT = Format(
    id="nemo-output",
    title="Questions with what a model answered (output.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:OUTPUT",
    dialects=(
        Dialect(
            "nemo-output",
            output_sign,
            strict="nemo-output-strict",
            remarks=output_remarks,
            lints="harpia_converters.nemo.lints:OUTPUT",
            one_of=frozenset({"input", "llm_name"}),
        ),
        Dialect(
            "nemo-output-flat",
            sniff_flat,
            "flat",
            strict="nemo-output-flat-strict",
            remarks=remarks_flat,
            lints="harpia_converters.nemo.lints:FLAT",
            documented=False,
            one_of=frozenset({"actual_response"}),
        ),
        # NVIDIA's page shows it once, but its tables describe other keys.
        Dialect(
            "nemo-output-reference",
            sniff_reference,
            "reference",
            strict="nemo-output-reference-strict",
            remarks=remarks_reference,
            lints="harpia_converters.nemo.lints:REFERENCE",
            documented=False,
            one_of=frozenset({"reference"}),
        ),
    ),
)


#: The path of an object in the document, and the object.
Placed = tuple[Path, Mapping[str, Any]]


def members_of(owner: Mapping[str, Any], path: Path, key: str) -> Iterator[Placed]:
    """Yield the objects in the object at `key` of `owner`, which is at `path`."""
    inner = owner.get(key)
    for name, member in inner.items() if isinstance(inner, Mapping) else ():
        if isinstance(member, Mapping):
            yield (*path, key, name), member


def groups_of(owner: Mapping[str, Any], path: Path = ()) -> Iterator[Placed]:
    """Yield the groups of `owner`, which is at `path`, each before its own groups."""
    for place, group in members_of(owner, path, "groups"):
        yield place, group
        yield from groups_of(group, place)


def metrics_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the metrics of every task and group of `document`."""
    for holders in (members_of(document, (), "tasks"), groups_of(document)):
        for place, holder in holders:
            yield from members_of(holder, place, "metrics")


def scores_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the scores of every metric of `document`."""
    for place, metric in metrics_of(document):
        yield from members_of(metric, place, "scores")


NO_STATS, SCORE_NAME, SAMPLE_TREE = "N201", "N202", "N203"

#: Names in the sample of NVIDIA's page, and those in its table and in real results.
_real_names = {"em_score": "em", "f1_score": "f1"}
#: Where that sample has the scores of all metrics in one.
_sample_place: Path = ("groups", "evaluation", "metrics", "evaluation")

#: Scores of similarity metrics from 0 to 1. Without accuracy: others use that name.
SHARES = frozenset(
    "bleu_score rouge_1_score rouge_2_score rouge_3_score rouge_L_score em f1".split()
)


def result_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` holds results, or ""."""
    metrics = list(metrics_of(document))
    for place, metric in metrics:
        if "scores" in metric:
            return f"`{place[0]}` with `scores` in it"
    if metrics and "job" in document and "type" not in document:
        return f"`job` and metrics in `{metrics[0][0][0]}`"
    return ""


def result_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on scores that some readers refuse or misname (N201-N203)."""
    if not isinstance(document, Mapping):
        return
    scores = list(scores_of(document))
    yield from _without_stats(scores)
    for place, _ in scores:
        yield from _misnamed(place)
    if any(place[: len(_sample_place)] == _sample_place for place, _ in scores):
        yield _as_in_the_sample()


def _without_stats(scores: list[Placed]) -> Iterator[Remark]:
    """Yield one remark for all scores without stats, at the first of them."""
    bare = [
        place for place, score in scores if not isinstance(score.get("stats"), Mapping)
    ]
    if bare:
        yield Remark(
            NO_STATS,
            bare[0],
            f"stats is missing in {len(bare):,} of {len(scores):,} scores; "
            "nemo-evaluator 0.2.8 reads no score without it",
            'add "stats" with count, sum and mean; an empty object is enough for '
            "that reader",
        )


def _misnamed(place: Path) -> Iterator[Remark]:
    name = str(place[-1])
    if name in _real_names:
        yield Remark(
            SCORE_NAME,
            place,
            f"{name} is the name in a sample of NVIDIA's page; its table and real "
            f"results have {_real_names[name]}",
            f'rename it to "{_real_names[name]}"',
            at_key=True,
        )


def _as_in_the_sample() -> Remark:
    return Remark(
        SAMPLE_TREE,
        _sample_place,
        "all scores are in one metric of one group, as in a sample of NVIDIA's page; "
        "real results have each metric below its task",
        "move each score to tasks.TASK.metrics.METRIC.scores, such as bleu_score to "
        "the metric bleu",
        at_key=True,
    )


RESULTS_FORMAT = Format(
    id="nemo-results",
    title="Scores by task or by group, metric and name",
    vendor=VENDOR,
    results="harpia_converters.nemo.results_writer:RESULTS",
    dialects=(
        Dialect(
            "nemo-results",
            result_sign,
            container=Container.DOCUMENT,
            strict="nemo-results-strict",
            remarks=result_remarks,
            lints="harpia_converters.nemo.lints:RESULTS",
            one_of=frozenset({"tasks", "groups"}),
        ),
    ),
)


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


def config_sign(document: Mapping[str, Any], *, listed: bool) -> str:
    """Return by which keys `document` is a configuration, or "".

    `listed` selects the dialect: tasks in a list, or tasks by name.
    """
    tasks = document.get("tasks")
    if isinstance(tasks, list) != listed or _record_keys & document.keys():
        return ""
    if result_sign(document):
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


def config_remarks(document: Any) -> Iterator[Remark]:
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


CONFIG_FORMAT = Format(
    id="nemo-config",
    title="The configuration of an evaluation, with tasks and metrics",
    vendor=VENDOR,
    dialects=(
        Dialect(
            "nemo-config",
            partial(config_sign, listed=False),
            container=Container.DOCUMENT,
            strict="nemo-config-strict",
            remarks=config_remarks,
            lints="harpia_converters.nemo.lints:CONFIG",
            one_of=frozenset({"type", "tasks"}),
        ),
        Dialect(
            "nemo-config-list",
            partial(config_sign, listed=True),
            "list",
            container=Container.DOCUMENT,
            strict="nemo-config-list-strict",
            remarks=config_remarks,
            lints="harpia_converters.nemo.lints:CONFIG",
            documented=False,
            one_of=frozenset({"tasks"}),
        ),
    ),
)
