"""The metric profiles nemo, nemo-custom, nemo-sdk and nemo-evaluator.

The last reads which metrics a configuration asks for, for which task, and converts
each of them to requests for the metric core.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from harpia_converters.nemo.formats import tasks_of
from harpia_formats.model.describe import short_json
from harpia_formats.model.vendor_metrics import (
    MetricConfiguration,
    MetricProfile,
    MetricRequest,
    ScoreError,
)


@dataclass(frozen=True, slots=True)
class MetricDefinitions:
    """The metrics of one kind of evaluation."""

    #: The name of the kind in messages.
    label: str
    metrics: Mapping[str, tuple[MetricRequest, ...]]


#: The note in the signature of a metric whose definition NVIDIA has not published.
UNVERIFIED = "unverified"

_first = {"references": "first"}
_squad = {"normalisation": "squad", **_first}
_sacrebleu = {"tokenizer": "13a", "smoothing": "exp"}
_sentence_bleu = {**_sacrebleu, "effective_order": True}
_corpus_bleu = {**_sacrebleu, "effective_order": False}
_rouge_names = {
    "rouge1": "rouge_1_score",
    "rouge2": "rouge_2_score",
    "rouge3": "rouge_3_score",
    "rougeL": "rouge_L_score",
}

_f1 = (MetricRequest("f1", {**_squad, "empty": "v2"}),)
_rouge = tuple(
    MetricRequest(
        metric,
        {"tokenizer": "rouge_score", "stemmer": True, **_first},
        key="rouge",
        names=(name,),
    )
    for metric, name in _rouge_names.items()
)
_string_check = (MetricRequest("string-check", {"operation": "equals", **_first}),)
_number_check = (MetricRequest("number-check", {"operation": "==", **_first}),)
_sentence = MetricRequest(
    "sentence-bleu",
    {**_sentence_bleu, "references": "all", "scale": "0-100"},
    key="bleu",
    names=("sentence",),
)


def _corpus(name: str, references: str) -> MetricRequest:
    parameters = {**_corpus_bleu, "references": references}
    return MetricRequest("bleu", parameters, key="bleu", names=(name,))


#: Similarity metrics of the microservice. The names of the scores are those of real
#: runs, and the values of samples agree with these definitions. How accuracy differs
#: from em, and which BLEU is meant, is not published.
SIMILARITY = MetricDefinitions(
    "similarity_metrics",
    {
        "accuracy": (MetricRequest("accuracy", _first, note=UNVERIFIED),),
        "em": (MetricRequest("em", _squad, note=UNVERIFIED),),
        "f1": _f1,
        "bleu": (
            MetricRequest(
                "sentence-bleu",
                {**_sentence_bleu, **_first, "scale": "0-1"},
                key="bleu",
                names=("bleu_score",),
                note=UNVERIFIED,
            ),
        ),
        "rouge": _rouge,
    },
)

#: Custom evaluations of the microservice.
CUSTOM = MetricDefinitions(
    "a custom evaluation",
    {
        "string-check": _string_check,
        "number-check": _number_check,
        "bleu": (_sentence, _corpus("corpus", "all")),
        "rouge": _rouge,
    },
)

#: The open nemo_evaluator_sdk, July 2026. Its corpus BLEU uses the first reference
#: only.
SDK = MetricDefinitions(
    "nemo_evaluator_sdk",
    {
        "exact-match": (
            MetricRequest("em", _squad, key="exact-match", names=("exact-match",)),
        ),
        "f1": _f1,
        "bleu": (_sentence, _corpus("corpus", "first")),
        "rouge": _rouge,
        "string-check": _string_check,
        "number-check": _number_check,
    },
)

#: An addition of ours to the SDK: BLEU of the corpus with all references.
OF_ALL_REFERENCES = {"corpus_all": (_corpus("corpus_all", "all"),)}

#: The open NeMo Evaluator, main branch of July 2026: whether its answers are right.
EVALUATOR = MetricDefinitions(
    "the NeMo Evaluator",
    {
        "exact_match": (
            MetricRequest(
                "em",
                {"normalisation": "nel", **_first},
                key="exact_match",
                names=("exact_match",),
            ),
        ),
        "fuzzy_match": (
            MetricRequest(
                "fuzzy-match",
                {"normalisation": "nel", "targets": "correct_answers", **_first},
                key="fuzzy_match",
                names=("fuzzy_match",),
            ),
        ),
    },
)


#: What a template can stand for.
REFERENCE, ANSWER = "the reference", "the answer"

#: Fields of an item of the data set, with or without `item.` before them.
_item_fields = {
    "reference": REFERENCE,
    "references": REFERENCE,
    "ideal_response": REFERENCE,
    "input.ideal_response": REFERENCE,
    "response": ANSWER,
    "actual_response": ANSWER,
    "output": ANSWER,
}
#: Fields of the model's answer, with or without `sample.` before them.
_sample_fields = {"output_text": ANSWER}
KNOWN = {
    **{f"item.{name}": meant for name, meant in _item_fields.items()},
    **{f"sample.{name}": meant for name, meant in _sample_fields.items()},
    **_item_fields,
    **_sample_fields,
}
_one_field = re.compile(r"\s*\{\{\s*([A-Za-z_][\w.]*)\s*\}\}\s*")


def meant_by(template: Any, metric: str) -> str:
    """Return what a template of `metric` stands for; raises `ScoreError` if unknown."""
    found = _one_field.fullmatch(template) if isinstance(template, str) else None
    if found is not None and found[1] in KNOWN:
        return KNOWN[found[1]]
    names = ", ".join(name for name in KNOWN if name.startswith(("item.", "sample.")))
    raise ScoreError(
        f"the template {short_json(template)} of the metric {metric} is "
        f"not supported: give one field in {{{{ }}}}, without filters, of {names}"
    )


def expect(template: Any, meaning: str, metric: str) -> None:
    """Raise `ScoreError` unless a template of `metric` stands for `meaning`."""
    found = meant_by(template, metric)
    if found != meaning:
        raise ScoreError(
            f"the template {short_json(template)} of the metric {metric} is {found}, "
            f"but must be {meaning}"
        )


#: Keys of a metric that do not change what it computes.
_about = frozenset(
    "type params name namespace workspace project id description labels custom_fields "
    "created_at updated_at".split()
)
_references = ("references", "reference", "ground_truth")
_answers = ("candidate", "prediction")
_operands = ("left_template", "operation", "right_template")

#: Other spellings of an operation; those of number-check are the SDK's.
_synonyms: Mapping[str, Mapping[str, str]] = {
    "string-check": {"==": "equals", "!=": "not equals", "<>": "not equals"},
    "number-check": {
        "equals": "==",
        "<>": "!=",
        "not equals": "!=",
        "gte": ">=",
        "greater than or equal": ">=",
        "gt": ">",
        "greater than": ">",
        "lte": "<=",
        "less than or equal": "<=",
        "lt": "<",
        "less than": "<",
    },
}
#: The operation with the same meaning if the two sides are swapped.
_swapped: Mapping[str, Mapping[str, str]] = {
    "string-check": {same: same for same in ("equals", "not equals")},
    "number-check": {
        **{same: same for same in ("==", "!=", "absolute difference")},
        ">=": "<=",
        "<=": ">=",
        ">": "<",
        "<": ">",
    },
}


def requests_for(
    key: str, metric: Mapping[str, Any], definitions: MetricDefinitions
) -> tuple[MetricRequest, ...]:
    """Return the requests for a metric of a configuration, which is named `key` there.

    A metric that is not in `definitions` is returned as unavailable, with the reason.
    Raises `ScoreError` for parameters that are not supported.
    """
    kind = str(metric.get("type", metric.get("name")))
    if kind not in definitions.metrics:
        return (_unknown(kind, key, definitions),)
    given = _given(key, metric)
    named = (_named(key, request) for request in definitions.metrics[kind])
    if kind in _synonyms:
        return tuple(_check_request(key, request, given) for request in named)
    if definitions is SIMILARITY:
        _check(key, given, known=())
    else:
        _check_comparison(key, given)
    return tuple(named)


def _unknown(kind: str, key: str, definitions: MetricDefinitions) -> MetricRequest:
    known = ", ".join(definitions.metrics)
    reason = f"{kind} is no metric of {definitions.label} that can be computed"
    return MetricRequest(kind, key=key, unavailable_reason=f"{reason} (known: {known})")


def _given(key: str, metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a metric, in `params` or next to its type."""
    params = metric.get("params")
    if params is None:
        params = {}
    if not isinstance(params, Mapping):
        raise ScoreError(f"params of the metric {key} must be an object")
    inline = {name: value for name, value in metric.items() if name not in _about}
    return {
        name: value for name, value in {**inline, **params}.items() if value is not None
    }


def _named(key: str, request: MetricRequest) -> MetricRequest:
    """Return `request` with the name `key`, and with names of its scores."""
    return replace(request, key=key, names=request.names or (request.metric,))


def _check(key: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise `ScoreError` for a given parameter whose name is not in `known`."""
    for name in given:
        if name not in known:
            names = ", ".join(known) or "none"
            raise ScoreError(
                f"the metric {key} has an unsupported parameter {short_json(name)} "
                f"(known: {names})"
            )


def _check_comparison(key: str, given: Mapping[str, Any]) -> None:
    """Raise `ScoreError` unless the answer is compared with the reference."""
    _check(key, given, known=(*_references, *_answers))
    for name in _references:
        if name in given:
            expect(_only(given[name], key), REFERENCE, key)
    for name in _answers:
        if name in given:
            expect(given[name], ANSWER, key)


def _only(references: Any, key: str) -> Any:
    """Return the only template of references; raises `ScoreError` for several."""
    if not isinstance(references, list):
        return references
    if len(references) != 1:
        raise ScoreError(
            f"the metric {key} has {len(references)} templates for references: give "
            "one, which stands for all references of a record"
        )
    return references[0]


def _check_request(
    key: str, request: MetricRequest, given: Mapping[str, Any]
) -> MetricRequest:
    """Return the request of a string-check or number-check with its operation.

    Raises `ScoreError` unless it compares the answer with the reference.
    """
    kind = request.metric
    more = ("epsilon",) if kind == "number-check" else ()
    _check(key, given, known=("check", *_operands, *more))
    left, operation, right = _sides(key, given)
    sides = meant_by(left, key), meant_by(right, key)
    if sides[0] == sides[1]:
        raise ScoreError(f"the metric {key} compares {sides[0]} with itself")
    if isinstance(operation, str):
        operation = _synonyms[kind].get(operation, operation)
    parameters = {**request.parameters, "operation": operation}
    parameters |= {name: given[name] for name in more if name in given}
    if sides == (ANSWER, REFERENCE):
        return replace(request, parameters=parameters)
    swapped = _swapped[kind].get(operation) if isinstance(operation, str) else None
    if swapped is None:
        reason = (
            f"the metric {key} compares the reference with the answer by {operation}, "
            "which is supported only the other way round: put the answer first"
        )
        return replace(request, unavailable_reason=reason)
    return replace(request, parameters={**parameters, "operation": swapped})


def _sides(key: str, given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return the left template, the operation and the right template of a check."""
    check = given.get("check", [given[name] for name in _operands if name in given])
    if not isinstance(check, list) or len(check) != len(_operands):
        raise ScoreError(
            f"the metric {key} has no check: give [left, operation, right], or "
            f"{', '.join(_operands)}"
        )
    left, operation, right = check
    return left, operation, right


#: Keys next to the type of a metric, by which one of the open SDK is recognised.
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
            f"the configuration has {found}; give `--name task=NAME` with one "
            f"of {known}"
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


NEMO = MetricProfile(
    id="nemo",
    summary="Similarity metrics of NVIDIA's microservice, from 0 to 1, by the first "
    "reference; accuracy, em and BLEU are our reading of its samples.",
    metrics=SIMILARITY.metrics,
    usual=tuple(SIMILARITY.metrics),
    of_config=partial(configured_metrics, other=CUSTOM),
)
NEMO_CUSTOM = MetricProfile(
    id="nemo-custom",
    summary="Custom evaluations of NVIDIA's microservice: BLEU of sentences and of the "
    "corpus from 0 to 100, and string-check.",
    metrics=CUSTOM.metrics,
    usual=("string-check", "bleu"),
    of_config=partial(configured_metrics, other=CUSTOM),
)
NEMO_SDK = MetricProfile(
    id="nemo-sdk",
    summary="NVIDIA's open nemo_evaluator_sdk: BLEU of sentences and of the corpus "
    "from 0 to 100, the latter by the first reference only.",
    metrics={**SDK.metrics, **OF_ALL_REFERENCES},
    usual=("exact-match", "f1", "bleu", "rouge"),
    of_config=partial(configured_metrics, other=SDK),
)
NEMO_EVALUATOR = MetricProfile(
    id="nemo-evaluator",
    summary="NVIDIA's open NeMo Evaluator (main branch): exact_match and fuzzy_match "
    "after its own normalisation, the latter by metadata.correct_answers if there are.",
    metrics=EVALUATOR.metrics,
    usual=tuple(EVALUATOR.metrics),
)
