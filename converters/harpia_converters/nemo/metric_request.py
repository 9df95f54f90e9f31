"""Convert one metric of a NeMo configuration to requests for the metric core."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harpia_converters.nemo.metric_definitions import SIMILARITY, MetricDefinitions
from harpia_converters.nemo.templates import ANSWER, REFERENCE, expect, meant_by
from harpia_formats.model.metric_profile import MetricRequest, ScoreError
from harpia_formats.model.text.describe import short_json

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

    A metric that is not in `definitions` is reswapped as unavailable, with the reason.
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
    """Return the parameters of a metric, in `params` or beside its type."""
    params = metric.get("params")
    if params is None:
        params = {}
    if not isinstance(params, Mapping):
        raise ScoreError(f"params of the metric {key} must be an object")
    beside = {name: value for name, value in metric.items() if name not in _about}
    return {
        name: value for name, value in {**beside, **params}.items() if value is not None
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
