"""The adapter of deepeval: goldens, test cases and conversations to records."""

from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.deepeval.formats import (
    LATEST,
    OF_CASES,
    OF_CONVERSATIONS,
    run_in,
)
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Header, Output, Record, Score, fits

_vendor = "deepeval"
#: The spelling of a key in saved files, by that of DeepEval's service.
_saved = {
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
    "sourceFile": "source_file",
    "additionalMetadata": "additional_metadata",
    "metricsData": "metrics_data",
    "toolsCalled": "tools_called",
    "expectedTools": "expected_tools",
    "customColumnKeyValues": "custom_column_key_values",
    "inputTokenCount": "input_token_count",
    "outputTokenCount": "output_token_count",
}
#: The names of counts of tokens in a record.
_counts = {"input_token_count": "input_tokens", "output_token_count": "output_tokens"}
#: What stands between passages in one text.
_between = "|"

_metrics = ("metrics_data",)
_fields = (
    FieldMapping(("input",), "prompt"),
    FieldMapping(("actual_output",), "outputs.text"),
    FieldMapping(("expected_output",), "references", LIST_OF_ONE),
    FieldMapping(("retrieval_context",), "contexts", note="a text is cut at each `|`"),
    FieldMapping(("context",), "contexts", note="without `retrieval_context`"),
    FieldMapping(("source_file",), "source"),
    FieldMapping(("additional_metadata",), "metadata"),
    FieldMapping(("metadata",), "metadata", note="without `additional_metadata`"),
    FieldMapping(("input_token_count",), "outputs.token_usage"),
    FieldMapping(("output_token_count",), "outputs.token_usage"),
    FieldMapping((*_metrics, "name"), "outputs.scores.metric"),
    FieldMapping((*_metrics, "score"), "outputs.scores.value"),
    FieldMapping((*_metrics, "success"), "outputs.scores.is_correct"),
)
#: Fields of a record, and the keys that they are taken from as they are.
_plain = (
    ("source", "source_file"),
    ("metadata", "additional_metadata"),
    ("metadata", "metadata"),
)
_turns = "turns"
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


def _read(row: Row) -> Record:
    """Return the record of a golden, a test case or a conversation, without nulls."""
    rest = {
        _saved.get(key, key) if _saved.get(key) not in row else key: value
        for key, value in row.items()
        if value is not None
    }
    fields, output = (_asked if "input" in rest else _conversation)(rest)
    for key in ("retrieval_context", "context"):
        if "contexts" not in fields and key in rest:
            passages = _passages(rest[key])
            # A passage of a run may be more than its text: such a list is kept whole.
            if fits("contexts", passages):
                fields["contexts"] = passages
                del rest[key]
    for name, key in _plain:
        if key in rest and name not in fields and fits(name, rest[key]):
            fields[name] = rest.pop(key)
    usage = {_counts[key]: rest.pop(key) for key in _counts if _is_count(rest, key)}
    if usage:
        output["token_usage"] = usage
    metrics = rest.pop("metrics_data", ())
    if metrics:
        output["scores"] = [_score(metric) for metric in metrics]
        beside = [_beside(metric) for metric in metrics]
        if any(beside):
            kept = output.get("extra", {}).get(_vendor, {})
            output["extra"] = {_vendor: {**kept, "metrics_data": beside}}
    fields["outputs"] = [Output(**output)] if output else []
    if rest:
        fields["extra"] = {_vendor: rest}
    return Record(**fields)


def _asked(rest: Row) -> tuple[Row, Row]:
    """Remove question and answers; return the fields of the record and the output."""
    fields: Row = {"prompt": rest.pop("input")}
    if "expected_output" in rest:
        fields["references"] = [rest.pop("expected_output")]
    has_answer = "actual_output" in rest
    return fields, {"text": rest.pop("actual_output")} if has_answer else {}


def _conversation(rest: Row) -> tuple[Row, Row]:
    """Remove the turns; return the fields of a record and of its output.

    The output has the turns unless they are one question, and an answer at most. What
    they say beside their texts is its extra, in their order.
    """
    turns = rest.pop(_turns, [])
    said = [{"role": turn["role"], "content": turn["content"]} for turn in turns]
    answers = [turn["content"] for turn in said if turn["role"] == "assistant"]
    is_exchange = [turn["role"] for turn in said] in _exchanges
    output: Row = {"interaction_type": "single_turn" if is_exchange else "multi_turn"}
    if answers:
        output["text"] = answers[-1]
    if not is_exchange:
        output[_turns] = said
    beside = [_beside_text(turn, number) for number, turn in enumerate(turns)]
    if any(beside):
        output["extra"] = {_vendor: {_turns: beside}}
    is_asked = bool(said) and said[0]["role"] == "user"
    return {"prompt": said[0]["content"]} if is_asked else {}, output


def _beside_text(turn: Row, number: int) -> Row:
    """Return what a turn says beside its text, with its place only if that differs."""
    known = {"role", "content"} | ({"order"} if turn.get("order") == number else set())
    return {
        key: value
        for key, value in turn.items()
        if key not in known and value is not None
    }


def _is_count(row: Row, key: str) -> bool:
    """Tell whether a row has a whole number at a key that is no sign of an error."""
    return type(row.get(key)) is int and row[key] >= 0


def _passages(value: Any) -> list[str]:
    """Return the passages of a list, or of the text that DeepEval makes of them."""
    if isinstance(value, list):
        return value
    return str(value).split(_between) if value else []


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


def _beside(metric: Row) -> Row:
    """Return what is known of a metric beside its score."""
    known = {"name", "score", "success"}
    if metric.get("score") is None:
        known.remove("success")
    return {
        key: value
        for key, value in metric.items()
        if key not in known and value is not None
    }


def _read_header(document: Row) -> Header:
    """Return what a run says beside its test cases: settings, totals and links."""
    run = {key: value for key, value in run_in(document).items() if value is not None}
    around = {} if LATEST not in document else document
    others = {key: value for key, value in around.items() if key != LATEST}
    found = {**others, **run}
    return Header(extra={_vendor: found}) if found else Header()


#: What names the fields of goldens, and of the rows of runs.
_GOLDENS = FormatAdapter(vendor=_vendor, fields=_fields, read=_read)
_CASES = FormatAdapter(vendor=_vendor, fields=_case_fields, read=_read)
_CONVERSATIONS = FormatAdapter(vendor=_vendor, fields=_conversation_fields, read=_read)
DEEPEVAL = FormatAdapter(
    vendor=_vendor,
    fields=(*_fields, *_turn_fields),
    read=_read,
    read_header=_read_header,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.ONE, scores=Cardinality.MANY
    ),
    named_by_dialect={
        "": _GOLDENS,
        **dict.fromkeys(OF_CASES, _CASES),
        **dict.fromkeys(OF_CONVERSATIONS, _CONVERSATIONS),
    },
    other_paths=frozenset({"outputs.scores.signature"}),
    answer_extra_examples={"metrics_data": "value", _turns: [{"order": 7}]},
)
