"""The adapter of promptfoo: the result of one prompt in one test to a record."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.promptfoo.formats import ERROR
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import Cardinality, FieldMapping, Row, RowCapacity
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Header, Output, Score

_vendor = "promptfoo"
#: The names of counts of tokens in a record.
_counts = {
    "prompt": "input_tokens",
    "completion": "output_tokens",
    "total": "total_tokens",
}
_response = ("response",)
_usage = (*_response, "tokenUsage")

_question = (
    FieldMapping(("testIdx",), "id"),
    FieldMapping(("prompt", "raw"), "prompt"),
    FieldMapping(("vars",), "metadata"),
)
_answer = (
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


def _answered(evaluation: Any, row: Row, rest: Row) -> Row:
    """Return the answer of an item, whose scores are of the run `evaluation`.

    What is no field is its extra, but for the test, which the question has.
    """
    fields: Row = {"model": _taken(rest, "provider", "id")}
    output = _taken(rest, "response", "output")
    if output is not UNSET:
        fields["text"] = output if isinstance(output, str) else encode(output).decode()
    if rest.get("failureReason") == ERROR:
        fields["error"] = _taken(rest, "error")
    else:
        fields["scores"] = _scores(rest, evaluation) or UNSET
    latency = _taken(rest, "latencyMs")
    if latency is not UNSET:
        fields["performance"] = {"latency_ms": latency}
    fields["token_usage"] = _token_usage(rest)
    test = {"testCase": rest.pop("testCase")} if "testCase" in row else {}
    kept = {key: value for key, value in rest.items() if value not in ({}, None)}
    rest.clear()
    rest.update(test)
    return {"outputs": [Output(**fields, extra={_vendor: kept} if kept else UNSET)]}


def _taken(rest: Row, *path: str) -> Any:
    """Remove the value at `path` and return it, `UNSET` if there is none, or null."""
    *owners, key = path
    owner: Any = rest
    for name in owners:
        if not isinstance(owner.get(name), dict):
            return UNSET
        owner[name] = owner = dict(owner[name])
    return UNSET if owner.get(key) is None else owner.pop(key)


def _scores(rest: Row, evaluation: Any) -> list[Score]:
    """Remove and return the scores of an item: of the test, and of named metrics."""
    scores = []
    value = _taken(rest, "score")
    if value is not UNSET:
        correct = _taken(rest, "success")
        scores.append(_score("score", value, evaluation, correct))
    named = rest.get("namedScores") or {}
    known = {name: value for name, value in named.items() if value is not None}
    if known:
        rest["namedScores"] = without(named, known)
    scores += (_score(name, value, evaluation) for name, value in known.items())
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


def _evaluation_of(document: Mapping[str, Any]) -> Any:
    """Return the id of the evaluation of `document`, `UNSET` if it has none."""
    evaluation = document.get("evalId")
    return evaluation if isinstance(evaluation, str) else UNSET


def _needed(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: document[key] for key in ("evalId",) if key in document}


def _read_header(document: Row) -> Header:
    """Return what a document has apart from its items."""
    return Header(extra={_vendor: document}) if document else Header()


PROMPTFOO = FieldTable(
    _vendor,
    (*_question, *_answer),
    own_keys=tuple(field.path[0] for field in _answer),
    run_of=_evaluation_of,
    read_own=_answered,
    in_order=True,
    removes_own=True,
).adapter(
    is_read_only=True,
    reads_numbers_as_text=True,
    needed_around=_needed,
    read_header=_read_header,
    capacity=RowCapacity(references=Cardinality.NONE, scores=Cardinality.MANY),
    other_paths=frozenset({"outputs.scores.signature"}),
    extra_examples={"testCase": "value"},
    # Of a test that ended with an error, or of an assertion that failed.
    answer_extra_examples={"error": "value", "success": False, "score": 0},
)
