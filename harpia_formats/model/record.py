"""What one evaluated sample is, whatever vendor's data it came from.

A field that is not known is `UNSET`, which is not the same as null: null says that
there is known to be nothing. Free values are decoded JSON.
"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from harpia_formats.model.exact_json import ExactFloat


class Score(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one metric says of one answer."""

    metric: str | UnsetType = UNSET
    #: A number, or true or false; None where the metric gave no value.
    value: Any = UNSET
    #: Whether it counts as a right answer.
    is_correct: bool | UnsetType = UNSET
    #: The evaluation run that the score is of.
    evaluation_id: str | UnsetType = UNSET
    #: The task or benchmark that the score is of.
    evaluation_name: str | UnsetType = UNSET
    #: The result of the run that the score counts for.
    result_id: str | UnsetType = UNSET
    #: How the score was worked out, so that it can be worked out again.
    signature: str | UnsetType = UNSET


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of one model."""

    model: str | UnsetType = UNSET
    #: Which of the model's answers to the sample it is, from 0.
    index: int | UnsetType = UNSET
    #: The prompt as the model received it.
    formatted_prompt: str | UnsetType = UNSET
    text: str | UnsetType | None = UNSET
    reasoning: str | UnsetType | None = UNSET
    #: The conversation that came of it.
    turns: list[dict[str, Any]] | UnsetType = UNSET
    #: "single_turn", "multi_turn" or "agentic".
    interaction_type: str | UnsetType = UNSET
    #: Where in the output the judged answer was found.
    attribution: list[Any] | UnsetType = UNSET
    scores: list[Score] | UnsetType = UNSET
    token_usage: dict[str, Any] | UnsetType = UNSET
    #: Times in milliseconds, by kind.
    performance: dict[str, Any] | UnsetType = UNSET
    error: str | UnsetType | None = UNSET
    #: What vendors give beside this: an object of each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One evaluated sample with all of its outputs."""

    id: int | str | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    system: str | UnsetType = UNSET
    #: What is asked, as messages; without the answer that is looked for.
    messages: list[dict[str, Any]] | UnsetType = UNSET
    #: Every answer that counts as right.
    references: list[str] | UnsetType = UNSET
    #: The answer that the conversation itself gives, where that is not a reference.
    gt: str | UnsetType = UNSET
    choices: list[str] | UnsetType = UNSET
    contexts: list[str] | UnsetType = UNSET
    category: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    #: Settings of the generation.
    params: dict[str, Any] | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    #: What vendors give beside this: an object of each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET
    outputs: list[Output] = []


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is true of a whole data set."""

    #: The metrics that are asked for.
    metrics: list[Any] | UnsetType = UNSET
    task: dict[str, Any] | UnsetType = UNSET
    evaluation: dict[str, Any] | UnsetType = UNSET
    #: What vendors give beside this: an object of each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET


_text, _texts, _objects, _object = (str,), (list,), (list,), (dict,)
_maybe = (str, type(None))

#: The JSON types of each field, by its path; lists below hold what the name says.
FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "id": (str, int),
    "prompt": _text,
    "system": _text,
    "messages": _objects,
    "references": _texts,
    "gt": _text,
    "choices": _texts,
    "contexts": _texts,
    "category": _text,
    "source": _text,
    "params": _object,
    "metadata": _object,
    "extra": _object,
    "outputs.model": _text,
    "outputs.index": (int,),
    "outputs.formatted_prompt": _text,
    "outputs.text": _maybe,
    "outputs.reasoning": _maybe,
    "outputs.turns": _objects,
    "outputs.interaction_type": _text,
    "outputs.attribution": (list,),
    "outputs.token_usage": _object,
    "outputs.performance": _object,
    "outputs.error": _maybe,
    "outputs.extra": _object,
    "outputs.scores.metric": _text,
    "outputs.scores.value": (int, float, ExactFloat, bool, type(None)),
    "outputs.scores.is_correct": (bool,),
    "outputs.scores.evaluation_id": _text,
    "outputs.scores.evaluation_name": _text,
    "outputs.scores.result_id": _text,
    "outputs.scores.signature": _text,
}
#: Fields that are lists of text.
TEXT_LISTS = frozenset({"references", "choices", "contexts"})
#: Fields whose members are told of one by one.
OPEN_OBJECTS = frozenset({"params", "metadata"})

_of_record = tuple(each for each in Record.__struct_fields__ if each != "outputs")
_of_output = tuple(each for each in Output.__struct_fields__ if each != "scores")
_of_score = Score.__struct_fields__
_record_values = attrgetter(*_of_record)
_output_values = attrgetter(*_of_output)
_score_values = attrgetter(*_of_score)


def as_dict(struct: Any) -> dict[str, Any]:
    """Return a record, a header or a part of one as the object that it is in JSON."""
    row = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if name in {"outputs", "scores"} and value is not UNSET:
            row[name] = [as_dict(each) for each in value]
        elif value is not UNSET:
            row[name] = value
    return row


def fits(path: str, value: Any) -> bool:
    """Tell whether `value` may be the field at the path `record_path` of a record."""
    if type(value) not in FIELD_TYPES[path]:
        return False
    if path in TEXT_LISTS:
        return all(type(each) is str for each in value)
    if FIELD_TYPES[path] is _objects and path != "outputs.attribution":
        return all(type(each) is dict for each in value)
    return True


def field_paths(record: Record) -> Iterator[str]:
    """Yield the path of each field that a record has, each once.

    Members of `params`, `metadata` and of each vendor's `extra` are told one by one.
    """
    for name, value in zip(_of_record, _record_values(record), strict=True):
        if value is not UNSET:
            yield from _with_members(name, value)
    seen: set[str] = set()
    for output in record.outputs:
        for path in _paths_of_output(output):
            if path not in seen:
                seen.add(path)
                yield path


def _paths_of_output(output: Output) -> Iterator[str]:
    for name, value in zip(_of_output, _output_values(output), strict=True):
        if value is not UNSET:
            yield from _with_members(f"outputs.{name}", value)
    if output.scores is UNSET:
        return
    if not output.scores:
        yield "outputs.scores"
    for score in output.scores:
        for name, value in zip(_of_score, _score_values(score), strict=True):
            if value is not UNSET:
                yield f"outputs.scores.{name}"


def _with_members(path: str, value: Any) -> Iterator[str]:
    """Yield `path`, or what it has below it where that is told one by one."""
    if path in OPEN_OBJECTS and value:
        yield from (f"{path}.{key}" for key in value)
    elif path.endswith("extra"):
        for vendor, members in value.items():
            yield from (f"{path}.{vendor}.{key}" for key in members)
    else:
        yield path
