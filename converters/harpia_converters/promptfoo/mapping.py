"""The adapter of promptfoo: the result of one prompt in one test to a record."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import UNSET

from harpia_converters.promptfoo.formats import ERROR
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.exact_json import ExactFloat, encode
from harpia_formats.model.record import Header, Output, Record, Score, fits

_vendor = "promptfoo"
#: The names of counts of tokens in a record.
_counts = {
    "prompt": "input_tokens",
    "completion": "output_tokens",
    "total": "total_tokens",
}
_numbers = (int, float, ExactFloat)
_response = ("response",)
_usage = (*_response, "tokenUsage")

_fields = (
    FieldMapping(("testIdx",), "id"),
    FieldMapping(("prompt", "raw"), "prompt"),
    FieldMapping(("vars",), "metadata"),
    FieldMapping(("provider", "id"), "outputs.model"),
    FieldMapping(
        (*_response, "output"), "outputs.text", note="other values as JSON text"
    ),
    FieldMapping(("error",), "outputs.error", note="where `failureReason` is 2"),
    FieldMapping(("score",), "outputs.scores.value", note="not of an error"),
    FieldMapping(("success",), "outputs.scores.is_correct", note="not of an error"),
    FieldMapping(
        ("namedScores", "*"),
        "outputs.scores.value",
        note="not of an error",
        key_record_path="outputs.scores.metric",
    ),
    FieldMapping(("latencyMs",), "outputs.performance", note="as `latency_ms`"),
    FieldMapping(
        _usage, "outputs.token_usage", note="`prompt`, `completion` and `total`"
    ),
    FieldMapping(("evalId",), "outputs.scores.evaluation_id", note="of the document"),
)


def _read(row: Row, evaluation: Any = UNSET) -> Record:
    """Return the record of an item, whose scores are of the run `evaluation`."""
    rest = dict(row)
    fields: Row = {}
    for name, path in (("id", ("testIdx",)), ("prompt", ("prompt", "raw"))):
        fields[name] = _taken(rest, path, name)
    fields["metadata"] = _taken(rest, ("vars",), "metadata")
    if "testCase" in rest:
        fields["extra"] = {_vendor: {"testCase": rest.pop("testCase")}}
    return Record(**fields, outputs=[_output(rest, evaluation)])


def _output(rest: Row, evaluation: Any) -> Output:
    """Return the answer that an item has, with what is no field as its extra."""
    fields: Row = {"model": _taken(rest, ("provider", "id"), "outputs.model")}
    response = rest.get("response")
    if isinstance(response, dict) and response.get("output") is not None:
        response = rest["response"] = dict(response)
        output = response.pop("output")
        fields["text"] = output if isinstance(output, str) else encode(output).decode()
    has_failed = rest.get("failureReason") == ERROR
    if has_failed:
        fields["error"] = _taken(rest, ("error",), "outputs.error")
    else:
        fields["scores"] = _scores(rest, evaluation) or UNSET
    latency = rest.get("latencyMs")
    if type(latency) in _numbers:
        fields["performance"] = {"latency_ms": rest.pop("latencyMs")}
    fields["token_usage"] = _token_usage(rest)
    kept = {key: value for key, value in rest.items() if value not in ({}, None)}
    return Output(**fields, extra={_vendor: kept} if kept else UNSET)


def _taken(rest: Row, path: tuple[str, ...], field: str) -> Any:
    """Remove the value at `path` and return it, `UNSET` if it is no such field."""
    *owners, key = path
    owner: Any = rest
    for name in owners:
        if not isinstance(owner.get(name), dict):
            return UNSET
        owner[name] = owner = dict(owner[name])
    value = owner.get(key)
    return owner.pop(key) if value is not None and fits(field, value) else UNSET


def _scores(rest: Row, evaluation: Any) -> list[Score]:
    """Remove and return the scores of an item: of the test, and of named metrics.

    What is no number stays where it is.
    """
    scores = []
    correct = rest["success"] if isinstance(rest.get("success"), bool) else UNSET
    if type(rest.get("score")) in _numbers:
        value = rest.pop("score")
        rest.pop("success", None) if correct is not UNSET else None
        scores.append(_score("score", value, evaluation, correct))
    named = rest.get("namedScores")
    if isinstance(named, dict):
        rest["namedScores"] = left = {}
        for name, value in named.items():
            if type(value) in _numbers:
                scores.append(_score(name, value, evaluation))
            else:
                left[name] = value
    return scores


def _score(metric: str, value: Any, evaluation: Any, correct: Any = UNSET) -> Score:
    return Score(
        metric=metric,
        value=value,
        is_correct=correct,
        evaluation_id=evaluation,
        signature=tool_signature(metric, _vendor),
    )


def _token_usage(rest: Row) -> Any:
    """Remove and return the tokens that the model took, `UNSET` if they are not known.

    Those that judges of the answer took stay where they are.
    """
    response = rest.get("response")
    owner = response if isinstance(response, dict) else {}
    if not isinstance(owner.get("tokenUsage"), dict):
        return UNSET
    usage = dict(owner["tokenUsage"])
    counts = {
        name: usage.pop(key) for key, name in _counts.items() if _is_count(usage, key)
    }
    rest["response"] = {**owner, "tokenUsage": usage}
    if not usage:
        del rest["response"]["tokenUsage"]
    return counts or UNSET


def _is_count(usage: Row, key: str) -> bool:
    return type(usage.get(key)) is int and usage[key] >= 0


def _read_in(document: Mapping[str, Any]) -> Callable[[Row], Record]:
    """Return the function that reads the items of the evaluation of `document`."""
    evaluation = document.get("evalId")
    return partial(
        _read, evaluation=evaluation if isinstance(evaluation, str) else UNSET
    )


def _needed(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: document[key] for key in ("evalId",) if key in document}


def _read_header(document: Row) -> Header:
    """Return what a document says beside its items."""
    return Header(extra={_vendor: document}) if document else Header()


PROMPTFOO = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_read,
    reader_in=_read_in,
    needed_around=_needed,
    read_header=_read_header,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.ONE, scores=Cardinality.MANY
    ),
    other_paths=frozenset({"outputs.scores.signature"}),
    extra_examples={"testCase": "value"},
    # Of a test that ended with an error, or of an assertion that failed.
    answer_extra_examples={"error": "value", "success": False, "score": 0},
)
