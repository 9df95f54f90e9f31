"""The adapter of ragas: samples to records, with the scores that rows have."""

from typing import Any

from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.record import Output, Record, Score

_vendor = "ragas"
#: The role of a message, by its type.
_roles = {"human": "user", "ai": "assistant", "tool": "tool"}
#: Keys of a sample that are no fields of a record.
_sample_keys = frozenset(
    "retrieved_context_ids reference_context_ids rubrics rubric reference_tool_calls "
    "reference_topics persona_name query_style query_length synthesizer_name".split()
)
#: Columns of tables whose numbers say which row it is.
_row_numbers = frozenset({"id", "index", "idx", "row", "level_0", "Unnamed: 0"})
_numbers = (int, float, ExactFloat, bool)

_fields = (
    FieldMapping(
        ("user_input",), "prompt", note="a text, or the first message of a person"
    ),
    FieldMapping(("user_input",), "outputs.turns", note="a list of messages"),
    FieldMapping(("response",), "outputs.text"),
    FieldMapping(("multi_responses",), "outputs.index", note="the place in the list"),
    FieldMapping(("reference",), "references", LIST_OF_ONE),
    FieldMapping(("retrieved_contexts",), "contexts"),
    FieldMapping(("reference_contexts",), "contexts", note="where none were retrieved"),
    FieldMapping(
        ("*",),
        "outputs.scores.value",
        note="numbers beside the keys of a sample",
        key_record_path="outputs.scores.metric",
    ),
)

_field_keys = frozenset(mapping.path[0] for mapping in _fields)


def _read(row: Row) -> Record:
    """Return the record of a sample."""
    values, rest = _values_and_rest(row)
    fields: Row = {}
    asked = row["user_input"]
    if isinstance(asked, str):
        fields["prompt"] = asked
    elif asked[0]["type"] == "human":
        fields["prompt"] = asked[0]["content"]
    if row.get("reference") is not None:
        fields["references"] = [row["reference"]]
    for key in ("retrieved_contexts", "reference_contexts"):
        if row.get(key) is None:
            continue
        if "contexts" in fields:
            rest[key] = row[key]
        else:
            fields["contexts"] = row[key]
    outputs = _outputs(row, asked)
    if len(outputs) > 1:
        # It is not known which of the answers was scored.
        rest |= values
    elif values:
        (output,) = outputs or [{}]
        outputs = [{**output, "scores": _scores(values)}]
    fields["outputs"] = [Output(**output) for output in outputs]
    if rest:
        fields["extra"] = {_vendor: rest}
    return Record(**fields)


def _values_and_rest(row: Row) -> tuple[Row, Row]:
    """Return the scores by their metrics, and the keys that are no fields.

    Each number beside the keys of a sample is a score, and so are true and false. A
    metric without a value is null, which any other column may be.
    """
    values, rest = {}, {}
    for key, value in row.items():
        if key in _field_keys:
            continue
        is_number = type(value) in _numbers
        if is_number and key not in _sample_keys and key not in _row_numbers:
            values[key] = value
        else:
            rest[key] = value
    return values, rest


def _scores(values: Row) -> list[Score]:
    """Return a score for each value, which is of the metric that is its key."""
    return [
        Score(metric=key, value=value, signature=tool_signature(key, _vendor))
        for key, value in values.items()
    ]


def _outputs(row: Row, asked: Any) -> list[Row]:
    """Return the fields of each answer: a conversation, or one text or several."""
    if isinstance(asked, list):
        turns = [_turn(message) for message in asked]
        has_tools = any(
            turn["role"] == "tool" or turn.get("tool_calls") for turn in turns
        )
        kind = "agentic" if has_tools else "multi_turn"
        return [{"turns": turns, "interaction_type": kind}]
    texts = [] if row.get("response") is None else [row["response"]]
    texts += row.get("multi_responses") or ()
    if len(texts) == 1:
        return [{"text": texts[0]}]
    return [{"text": text, "index": index} for index, text in enumerate(texts)]


def _turn(message: Row) -> Row:
    """Return the turn that a message is; further keys stay in it."""
    turn = {"role": _roles[message["type"]], "content": message["content"]}
    for key, value in message.items():
        if key == "tool_calls":
            calls = value and [_call(call) for call in value]
            turn |= {} if calls is None else {key: calls}
        elif key not in {"type", "content"} and value is not None:
            turn[key if key not in turn else f"ragas.{key}"] = value
    return turn


def _call(call: Row) -> Row:
    """Return a call of a tool with its arguments under the name that records have."""
    return {"arguments" if key == "args" else key: call[key] for key in call}


RAGAS = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_read,
    capacity=RowCapacity(
        references=Cardinality.ONE,
        outputs=Cardinality.MANY_OF_ONE_MODEL,
        scores=Cardinality.MANY,
        turns=True,
    ),
    other_names={
        "outputs.scores": "metric columns",
        "outputs.scores.metric": "metric columns (names)",
        "outputs.scores.value": "metric columns (values)",
    },
    other_paths=frozenset({"outputs.interaction_type", "outputs.scores.signature"}),
)
