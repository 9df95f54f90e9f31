"""The tables of row keys and record fields, for each of the three versions."""

from functools import partial
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.answers import (
    read_reasoning,
    read_text,
    write_reasoning,
    write_text,
)
from harpia_converters.eee.attribution import read_attribution, write_attribution
from harpia_converters.eee.turns import read_turns, write_turns
from harpia_converters.eee.usage import write_performance, write_usage
from harpia_converters.eee.versions import Version, as_text
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    ChangedValue,
    FieldMapping,
    ValueCodec,
    as_is,
)


def _as_list(value: Any) -> Any:
    return [value] if type(value) is str else value


def _write_id(value: Any) -> Any:
    return value if type(value) is str else ChangedValue(as_text(value), "as text")


def _write_score(value: Any) -> Any:
    """Return a score, or `UNSET` for null: a row then leaves the key out."""
    return UNSET if value is None else value


def _write_number(value: Any) -> Any:
    if type(value) is bool:
        return ChangedValue(float(value), "1.0 for true, 0.0 for false")
    return _write_score(value)


_text_id = ValueCodec(as_is, _write_id, "an integer becomes text")
_score = ValueCodec(as_is, _write_score, "null is no score")
_number = ValueCodec(as_is, _write_number, "true becomes 1.0, false 0.0")
_references = ValueCodec(_as_list, as_is, "text alone is a list of one", by_type=True)
_several = "a list of several is several answers of the model"
_text = ValueCodec(read_text, write_text, _several)
_reasoning = ValueCodec(read_reasoning, write_reasoning, _several)
_usage = ValueCodec(as_is, write_usage, "left out if one of the three counts lacks")


def _conversation(version: Version) -> ValueCodec:
    write = partial(write_turns, version=version)
    return ValueCodec(
        read_turns,
        write,
        "without turn_idx where it equals the place",
        by_type=True,
    )


def _attribution(version: Version) -> ValueCodec:
    read = partial(read_attribution, version=version)
    write = partial(write_attribution, version=version)
    how = f"a source in {version.turns}[N] is one in turns[N]"
    return ValueCodec(read, write, how, by_type=True)


def _times(version: Version) -> ValueCodec:
    write = partial(write_performance, version=version)
    return ValueCodec(as_is, write, "only numbers from 0")


def answer_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the `output` of a `single_turn` row."""
    text, reasoning = (_text, _reasoning) if version.has_lists else (None, None)
    return (
        FieldMapping(("output", "raw"), "outputs.text", text),
        FieldMapping(("output", "reasoning_trace"), "outputs.reasoning", reasoning),
    )


def question_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the input, and of the evaluation that it is from."""
    reference = FieldMapping(
        ("input", "reference"), "references", LIST_OF_ONE, required=True
    )
    if version.has_lists:
        reference = FieldMapping(
            ("input", "reference"), "references", _references, default=[]
        )
    return (
        FieldMapping(("evaluation_id",), "outputs.scores.evaluation_id", required=True),
        FieldMapping(("model_id",), "outputs.model", required=True),
        FieldMapping(
            ("evaluation_name",), "outputs.scores.evaluation_name", required=True
        ),
        FieldMapping(
            ("evaluation_result_id",),
            "outputs.scores.metric",
            note="with the filter or scorer that the signature names",
        ),
        FieldMapping(
            ("sample_id",), "id", _text_id if version.is_closed else None, required=True
        ),
        FieldMapping(
            ("interaction_type",),
            "outputs.interaction_type",
            note="by the turns where a record has none",
        ),
        FieldMapping(("input", "raw"), "prompt", required=True),
        FieldMapping(("input", "formatted"), "outputs.formatted_prompt"),
        reference,
        FieldMapping(("input", "choices"), "choices"),
    )


def other_fields(version: Version) -> tuple[FieldMapping, ...]:
    """Return the fields of the conversation, the scores and the measurements."""
    score = _number if version.is_closed else _score
    return (
        FieldMapping((version.turns,), "outputs.turns", _conversation(version)),
        FieldMapping(
            ("answer_attribution",),
            "outputs.attribution",
            _attribution(version),
            default=[],
        ),
        FieldMapping(
            ("evaluation", "score"), "outputs.scores.value", score, required=True
        ),
        FieldMapping(
            ("evaluation", "is_correct"), "outputs.scores.is_correct", required=True
        ),
        FieldMapping(("token_usage",), "outputs.token_usage", _usage),
        FieldMapping(("performance",), "outputs.performance", _times(version)),
        FieldMapping(("error",), "outputs.error"),
        FieldMapping(
            ("metadata",),
            "metadata",
            note="values that are not text become JSON text"
            if version.is_closed
            else "",
        ),
    )
