"""The adapter of deepeval: goldens and test cases to records."""

from typing import Any

from msgspec import UNSET, UnsetType

from harpia_formats.mapping.tool_signature import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Output, Record, Score, fits

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
}
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
    FieldMapping((*_metrics, "name"), "outputs.scores.metric"),
    FieldMapping((*_metrics, "score"), "outputs.scores.value"),
    FieldMapping((*_metrics, "success"), "outputs.scores.is_correct"),
)


def _read(row: Row) -> Record:
    """Return the record of a golden or a test case; nulls are left out."""
    rest = {
        _saved.get(key, key) if _saved.get(key) not in row else key: value
        for key, value in row.items()
        if value is not None
    }
    fields: Row = {"prompt": rest.pop("input")}
    output: Row = {}
    if "expected_output" in rest:
        fields["references"] = [rest.pop("expected_output")]
    if "actual_output" in rest:
        output["text"] = rest.pop("actual_output")
    for key in ("retrieval_context", "context"):
        if "contexts" not in fields and key in rest:
            fields["contexts"] = _passages(rest.pop(key))
    for name, key in (("source", "source_file"), ("metadata", "additional_metadata")):
        if key in rest and fits(name, rest[key]):
            fields[name] = rest.pop(key)
    metrics = rest.pop("metrics_data", ())
    if metrics:
        output["scores"] = [_score(metric) for metric in metrics]
        beside = [_beside(metric) for metric in metrics]
        if any(beside):
            output["extra"] = {_vendor: {"metrics_data": beside}}
    fields["outputs"] = [Output(**output)] if output else []
    if rest:
        fields["extra"] = {_vendor: rest}
    return Record(**fields)


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


DEEPEVAL = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_read,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.ONE, scores=Cardinality.MANY
    ),
    other_paths=frozenset({"outputs.scores.signature"}),
    answer_extra_examples={"metrics_data": "value"},
)
