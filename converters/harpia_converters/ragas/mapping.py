"""The adapter of ragas: samples to records, with the scores that rows have."""

from typing import Any

from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
)
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.record import Output, Score

_vendor = "ragas"
#: The role of a message, by its type.
_roles = {"human": "user", "ai": "assistant", "tool": "tool"}
#: Keys whose numbers are no scores: of a sample, and of the row numbers of tables.
_no_scores = frozenset(
    "retrieved_context_ids reference_context_ids rubrics rubric reference_tool_calls "
    "reference_topics persona_name query_style query_length synthesizer_name".split()
) | {"id", "index", "idx", "row", "level_0", "Unnamed: 0"}
_numbers = (int, float, ExactFloat, bool)
#: The keys of a call in a record, where they are others.
_call_keys = {"args": "arguments", "arguments": "ragas.arguments"}
#: Answers to a single question; a conversation has its own.
_answers = ("response", "multi_responses")

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
        note="numbers in other keys of a sample",
        key_record_path="outputs.scores.metric",
    ),
)


def _sample(row: Row, kept: Row) -> Row:
    """Return what a sample asks and expects, and its answers with their scores."""
    fields: Row = {}
    asked = row["user_input"]
    if isinstance(asked, str):
        fields["prompt"] = asked
    elif asked[0]["type"] == "human":
        fields["prompt"] = asked[0]["content"]
    if row.get("reference") is not None:
        fields["references"] = [row["reference"]]
    if isinstance(asked, list):
        kept |= {key: row[key] for key in _answers if row.get(key) is not None}
    values = _taken_values(kept)
    for key in ("retrieved_contexts", "reference_contexts"):
        if row.get(key) is None:
            continue
        if "contexts" in fields:
            kept[key] = row[key]
        else:
            fields["contexts"] = row[key]
    outputs = _outputs(row, asked)
    if len(outputs) > 1:
        # It is not known which of the answers was scored.
        kept.update(values)
    elif values:
        (output,) = outputs or [{}]
        outputs = [{**output, "scores": _scores(values)}]
    fields["outputs"] = [Output(**output) for output in outputs]
    return fields


def _taken_values(kept: Row) -> Row:
    """Remove the scores from the members that are no fields; return them by metrics.

    Each number is a score, and so are true and false. A metric without a value is null,
    which any other column may be.
    """
    values = {}
    for key, value in [*kept.items()]:
        if type(value) in _numbers and key not in _no_scores:
            values[key] = kept.pop(key)
    return values


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
    return {_call_keys.get(key, key): value for key, value in call.items()}


RAGAS = FieldTable(_vendor, _fields, read_own=_sample, in_order=True).adapter(
    is_read_only=True,
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
        **{f"extra.{_vendor}.{key}": f"{key} (of a conversation)" for key in _answers},
    },
    other_paths=frozenset({"outputs.interaction_type", "outputs.scores.signature"}),
    extra_examples={"response": "value", "multi_responses": ["value"]},
)
