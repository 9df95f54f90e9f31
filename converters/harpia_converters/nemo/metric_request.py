"""One metric of a configuration of NVIDIA's, as the metric core has it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harpia_converters.nemo.metric_definitions import SIMILARITY, Definitions
from harpia_converters.nemo.templates import ANSWER, REFERENCE, expect, meant_by
from harpia_formats.model.metric_profile import MetricRequest, ScoreError
from harpia_formats.text.describe import short_json

#: Keys around a metric that say nothing of what it computes.
_about = frozenset(
    "type params name namespace workspace project id description labels custom_fields "
    "created_at updated_at".split()
)
_references = ("references", "reference", "ground_truth")
_answers = ("candidate", "prediction")
_operands = ("left_template", "operation", "right_template")

#: Other words for an operation; those of number-check are the SDK's.
_spelt: Mapping[str, Mapping[str, str]] = {
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
#: What an operation is where its two sides change places.
_turned: Mapping[str, Mapping[str, str]] = {
    "string-check": {each: each for each in ("equals", "not equals")},
    "number-check": {
        **{each: each for each in ("==", "!=", "absolute difference")},
        ">=": "<=",
        "<=": ">=",
        ">": "<",
        "<": ">",
    },
}


def asked_by(
    key: str, metric: Mapping[str, Any], definitions: Definitions
) -> tuple[MetricRequest, ...]:
    """Return what a metric of a configuration, called `key` there, asks for.

    One that the kind of evaluation does not have keeps its type as its name, with the
    reason. Raises `ScoreError` for what it is given and is not understood here.
    """
    kind = str(metric.get("type", metric.get("name")))
    if kind not in definitions.metrics:
        return (_unknown(kind, key, definitions),)
    given = _given(key, metric)
    named = (_under(key, request) for request in definitions.metrics[kind])
    if kind in _spelt:
        return tuple(_checking(key, request, given) for request in named)
    if definitions is SIMILARITY:
        _check(key, given, known=())
    else:
        _check_comparison(key, given)
    return tuple(named)


def _unknown(kind: str, key: str, definitions: Definitions) -> MetricRequest:
    known = ", ".join(definitions.metrics)
    why = f"{kind} is no metric of {definitions.called} that is computed here"
    return MetricRequest(kind, key=key, unavailable_reason=f"{why} (known: {known})")


def _given(key: str, metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a metric is given, in `params` or beside its type."""
    params = metric.get("params")
    if params is None:
        params = {}
    if not isinstance(params, Mapping):
        raise ScoreError(f"params of the metric {key} are no object")
    beside = {name: value for name, value in metric.items() if name not in _about}
    return {
        name: value for name, value in {**beside, **params}.items() if value is not None
    }


def _under(key: str, asked: MetricRequest) -> MetricRequest:
    """Return what is asked for, called `key`, with the names that its scores have."""
    return replace(asked, key=key, names=asked.names or (asked.metric,))


def _check(key: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise `ScoreError` for what a metric is given that is not known."""
    for name in given:
        if name not in known:
            names = ", ".join(known) or "none"
            raise ScoreError(
                f"what {short_json(name)} of the metric {key} means is not known here "
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
    """Return the one template for references."""
    if not isinstance(references, list):
        return references
    if len(references) != 1:
        raise ScoreError(
            f"the metric {key} has {len(references)} templates for references, where "
            "one is wanted: it stands for all references of a record"
        )
    return references[0]


def _checking(
    key: str, asked: MetricRequest, given: Mapping[str, Any]
) -> MetricRequest:
    """Return a string-check or a number-check with its operation."""
    kind = asked.metric
    more = ("epsilon",) if kind == "number-check" else ()
    _check(key, given, known=("check", *_operands, *more))
    left, operation, right = _sides(key, given)
    sides = meant_by(left, key), meant_by(right, key)
    if sides[0] == sides[1]:
        raise ScoreError(f"the metric {key} compares {sides[0]} with itself")
    if isinstance(operation, str):
        operation = _spelt[kind].get(operation, operation)
    parameters = {**asked.parameters, "operation": operation}
    parameters |= {name: given[name] for name in more if name in given}
    if sides == (ANSWER, REFERENCE):
        return replace(asked, parameters=parameters)
    turned = _turned[kind].get(operation) if isinstance(operation, str) else None
    if turned is None:
        why = (
            f"the metric {key} asks whether the reference {operation} the answer, and "
            "only the answer is asked here; let the answer stand first"
        )
        return replace(asked, unavailable_reason=why)
    return replace(asked, parameters={**parameters, "operation": turned})


def _sides(key: str, given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return what stands left, the operation, and what stands right."""
    check = given.get("check", [given[each] for each in _operands if each in given])
    if not isinstance(check, list) or len(check) != len(_operands):
        raise ScoreError(
            f"the metric {key} lacks its check: [left, operation, right], or "
            f"{', '.join(_operands)}"
        )
    left, operation, right = check
    return left, operation, right
