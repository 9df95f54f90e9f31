"""The adapter of deepeval: goldens, test cases and conversations to records."""

from dataclasses import replace
from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.deepeval.formats import (
    LATEST,
    OF_CASES,
    OF_CONVERSATIONS,
    OWN_KEYS,
    of_service,
    run_in,
)
from harpia_formats.conversion.mapping.fields import FieldTable, without, without_nulls
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
    ValueCodec,
    as_is,
)
from harpia_formats.model.record import Header, Output, Score

_vendor = "deepeval"
#: The names of counts of tokens in a record.
_counts = {"input_token_count": "input_tokens", "output_token_count": "output_tokens"}
#: The spelling of a key in saved files, by that of DeepEval's service.
_saved = {
    of_service(key): key
    for key in (*OWN_KEYS, "actual_output", "expected_output", *_counts)
}
#: What stands between passages in one text.
_between = "|"

_metrics = ("metrics_data",)


def _passages(value: Any) -> Any:
    """Return the passages of a list, or of the text that DeepEval makes of them."""
    if isinstance(value, list):
        return value
    return str(value).split(_between) if value else []


#: A passage of a run may be more than its text: such a list is kept whole.
_passage_list = ValueCodec(_passages, as_is, f"a text is cut at each `{_between}`")
_fields = (
    FieldMapping(("input",), "prompt"),
    FieldMapping(("actual_output",), "outputs.text"),
    FieldMapping(("expected_output",), "references", LIST_OF_ONE),
    FieldMapping(("retrieval_context",), "contexts", _passage_list),
    FieldMapping(
        ("context",), "contexts", _passage_list, note="without `retrieval_context`"
    ),
    FieldMapping(("source_file",), "source"),
    FieldMapping(("additional_metadata",), "metadata"),
    FieldMapping(("metadata",), "metadata", note="without `additional_metadata`"),
    FieldMapping(("input_token_count",), "outputs.token_usage"),
    FieldMapping(("output_token_count",), "outputs.token_usage"),
    FieldMapping((*_metrics, "name"), "outputs.scores.metric"),
    FieldMapping((*_metrics, "score"), "outputs.scores.value"),
    FieldMapping((*_metrics, "success"), "outputs.scores.is_correct"),
)
_turns = "turns"
#: Keys of a turn and of a metric that a record has: the last one of a turn only if that
#: is its place in the list, and that of a metric only if there is a score.
_text_keys = ("role", "content", "order")
_score_keys = ("name", "score", "success")
#: Who speaks in a conversation that is no more than a question and an answer.
_exchanges = (["user"], ["user", "assistant"])
#: Of a test case in a run.
_case_fields = tuple(
    field
    for field in _fields
    if field.path[0] not in {"source_file", "additional_metadata"}
)
#: Of a conversation, with those that other rows have, too.
_turn_fields = (
    FieldMapping((_turns,), "outputs.turns"),
    FieldMapping((_turns,), "outputs.interaction_type"),
)
_conversation_fields = (
    *_turn_fields,
    FieldMapping((_turns,), "prompt", note="what the user says first"),
    FieldMapping((_turns,), "outputs.text", note="what the model says last"),
    *(
        field
        for field in _fields
        if field.path[0] in {"context", "metadata", *_metrics}
    ),
)


def _saved_row(row: Row) -> Row:
    """Return a row without nulls, its keys spelled as in saved files."""
    return {
        _saved.get(key, key) if row.get(_saved.get(key, "")) is None else key: value
        for key, value in row.items()
        if value is not None
    }


def _answered(row: Row, rest: Row) -> Row:
    """Remove and return the answers of a row, and the prompt of a conversation."""
    fields, output = (_asked if "input" in row else _conversation)(rest)
    usage = {_counts[key]: rest.pop(key) for key in _counts if _is_count(rest, key)}
    if usage:
        output["token_usage"] = usage
    metrics = rest.pop("metrics_data", ())
    if metrics:
        output["scores"] = [_score(metric) for metric in metrics]
        others = [
            _other_members(
                each, _score_keys[:2] if each.get("score") is None else _score_keys
            )
            for each in metrics
        ]
        if any(others):
            kept = output.get("extra", {}).get(_vendor, {})
            output["extra"] = {_vendor: {**kept, "metrics_data": others}}
    fields["outputs"] = [Output(**output)] if output else []
    return fields


def _asked(rest: Row) -> tuple[Row, Row]:
    """Remove the answers to a question; return the fields of record and output."""
    fields, output = {}, {}
    if "expected_output" in rest:
        fields["references"] = [rest.pop("expected_output")]
    if "actual_output" in rest:
        output["text"] = rest.pop("actual_output")
    return fields, output


def _conversation(rest: Row) -> tuple[Row, Row]:
    """Remove the turns; return the fields of a record and of its output.

    The output has the turns unless they are one question, and an answer at most. What
    they have apart from their texts is its extra, in their order.
    """
    turns = rest.pop(_turns, [])
    messages = [{"role": turn["role"], "content": turn["content"]} for turn in turns]
    answers = [turn["content"] for turn in messages if turn["role"] == "assistant"]
    is_exchange = [turn["role"] for turn in messages] in _exchanges
    output: Row = {"interaction_type": "single_turn" if is_exchange else "multi_turn"}
    if answers:
        output["text"] = answers[-1]
    if not is_exchange:
        output[_turns] = messages
    others = [
        _other_members(
            turn, _text_keys if turn.get("order") == number else _text_keys[:2]
        )
        for number, turn in enumerate(turns)
    ]
    if any(others):
        output["extra"] = {_vendor: {_turns: others}}
    is_asked = bool(messages) and messages[0]["role"] == "user"
    return {"prompt": messages[0]["content"]} if is_asked else {}, output


def _other_members(owner: Row, known: tuple[str, ...]) -> Row:
    """Return what a turn or a metric has apart from its `known` keys, without nulls."""
    return without_nulls(without(owner, known))


def _is_count(row: Row, key: str) -> bool:
    """Tell whether a row has a whole number at a key that is no sign of an error."""
    return type(row.get(key)) is int and row[key] >= 0


def _score(metric: Row) -> Score:
    """Return the score of a metric; one that gave none has no verdict either."""
    value, success = metric.get("score"), metric.get("success")
    judge = metric.get("evaluationModel", metric.get("evaluation_model"))
    name = metric["name"]
    verdict: bool | UnsetType = UNSET
    if value is not None and isinstance(success, bool):
        verdict = success
    return Score(
        metric=name,
        value=value,
        is_correct=verdict,
        signature=tool_signature(name, _vendor, judge=str(judge or "")),
    )


def _read_header(document: Row) -> Header:
    """Return what a run has apart from its test cases: settings, totals and links."""
    run = without_nulls({**run_in(document)})
    around = {} if LATEST not in document else document
    found = {**without(around, {LATEST}), **run}
    return Header(extra={_vendor: found}) if found else Header()


_ROWS = FieldTable(
    _vendor,
    (*_fields, *_turn_fields),
    own_keys=("actual_output", "expected_output", *_counts, *_metrics, _turns),
    read_own=_answered,
    in_order=True,
    removes_own=True,
    normalize=_saved_row,
).adapter(
    is_read_only=True,
    read_header=_read_header,
    capacity=RowCapacity(scores=Cardinality.MANY),
    other_paths=frozenset({"outputs.scores.signature"}),
    answer_extra_examples={"metrics_data": "value", _turns: [{"order": 7}]},
)
DEEPEVAL = replace(
    _ROWS,
    named_by_dialect={
        "": replace(_ROWS, fields=_fields),
        **dict.fromkeys(OF_CASES, replace(_ROWS, fields=_case_fields)),
        **dict.fromkeys(OF_CONVERSATIONS, replace(_ROWS, fields=_conversation_fields)),
    },
)
