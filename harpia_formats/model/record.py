"""Records: evaluated samples, in the same form for the data of all vendors.

An unknown field is `UNSET`. Null is not the same: it says that there is no value.
Values of open objects are decoded JSON.
"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from harpia_formats.model.exact_json import ExactFloat


class Score(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value that one metric has for one answer."""

    metric: str | UnsetType = UNSET
    #: A number, or true or false; None where the metric gave no value.
    value: Any = UNSET
    #: Whether the answer counts as correct.
    is_correct: bool | UnsetType = UNSET
    #: The id of the evaluation run.
    evaluation_id: str | UnsetType = UNSET
    #: The name of the task or benchmark.
    evaluation_name: str | UnsetType = UNSET
    #: The id of the result of the run to which the score belongs.
    result_id: str | UnsetType = UNSET
    #: How the score was computed, so that it can be computed again.
    signature: str | UnsetType = UNSET


#: The metric of scores that name neither it nor their evaluation.
UNNAMED = "score"


def metric_of(score: Score) -> str:
    """Return the name of the metric of a score, else that of its evaluation."""
    for name in (score.metric, score.evaluation_name):
        if name is not UNSET:
            return name
    return UNNAMED


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of one model."""

    model: str | UnsetType = UNSET
    #: Which of the model's answers to the sample it is, from 0.
    index: int | UnsetType = UNSET
    #: The prompt as the model received it.
    formatted_prompt: str | UnsetType = UNSET
    text: str | UnsetType | None = UNSET
    reasoning: str | UnsetType | None = UNSET
    #: The conversation, if the answer has several turns.
    turns: list[dict[str, Any]] | UnsetType = UNSET
    #: "single_turn", "multi_turn" or "agentic".
    interaction_type: str | UnsetType = UNSET
    #: Where in the output the scored answer was found.
    attribution: list[Any] | UnsetType = UNSET
    scores: list[Score] | UnsetType = UNSET
    token_usage: dict[str, Any] | UnsetType = UNSET
    #: Times in milliseconds, by kind.
    performance: dict[str, Any] | UnsetType = UNSET
    error: str | UnsetType | None = UNSET
    #: Further data of vendors: an object for each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One evaluated sample with all of its outputs."""

    id: int | str | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    system: str | UnsetType = UNSET
    #: The prompt as messages, without the expected answer.
    messages: list[dict[str, Any]] | UnsetType = UNSET
    #: Every answer that counts as correct.
    references: list[str] | UnsetType = UNSET
    #: The expected answer of the conversation itself, where that is not a reference.
    gt: str | UnsetType = UNSET
    choices: list[str] | UnsetType = UNSET
    contexts: list[str] | UnsetType = UNSET
    category: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    #: Settings of the generation.
    params: dict[str, Any] | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    #: Further data of vendors: an object for each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET
    outputs: list[Output] = []

    def to_dict(self) -> dict[str, Any]:
        """Return it as a row of the format `record`: its fields that are set."""
        return as_dict(self)


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What applies to a whole data set."""

    #: The metrics that the data set asks for.
    metrics: list[Any] | UnsetType = UNSET
    task: dict[str, Any] | UnsetType = UNSET
    evaluation: dict[str, Any] | UnsetType = UNSET
    #: Further data of vendors: an object for each, by the vendor's name.
    extra: dict[str, dict[str, Any]] | UnsetType = UNSET


_text, _texts, _objects, _object = (str,), (list,), (list,), (dict,)
_maybe = (str, type(None))

#: The Python types of each field, by its path.
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
#: Fields that are lists of texts.
TEXT_LISTS = frozenset({"references", "choices", "contexts"})
#: Fields that are lists of objects.
OBJECT_LISTS = frozenset({"messages", "outputs.turns"})
#: Fields whose members have outcomes of their own.
OPEN_OBJECTS = frozenset({"params", "metadata"})

#: The path of the system message that a chat begins with.
SYSTEM_MESSAGE = "messages.system"

_of_record = tuple(name for name in Record.__struct_fields__ if name != "outputs")
_of_output = tuple(name for name in Output.__struct_fields__ if name != "scores")
_of_score = Score.__struct_fields__
_record_values = attrgetter(*_of_record)
_output_values = attrgetter(*_of_output)
_score_values = attrgetter(*_of_score)


def as_dict(struct: Any) -> dict[str, Any]:
    """Return a record, a header or a part of one as a JSON object."""
    row = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if name in {"outputs", "scores"} and value is not UNSET:
            row[name] = [as_dict(item) for item in value]
        elif value is not UNSET:
            row[name] = value
    return row


def record_of(row: dict[str, Any]) -> Record:
    """Return the record that `as_dict` returned as `row`, or a schema accepted.

    The types of its fields are not converted: an id of 3.0 does not become 3. The
    header that a row may hold is no part of the record.
    """
    outputs = [_output_of(output) for output in row.get("outputs", ())]
    fields = {**row, "outputs": outputs}
    fields.pop("header", None)
    return Record(**fields)


def _output_of(row: dict[str, Any]) -> Output:
    scores = row.get("scores", UNSET)
    if scores is not UNSET:
        scores = [Score(**score) for score in scores]
    return Output(**{**row, "scores": scores})


def kept_of(owner: Record | Output | Header, vendor: str) -> dict[str, Any]:
    """Return a vendor's own members in the extra of a record, an output or a header."""
    return {} if owner.extra is UNSET else owner.extra.get(vendor, {})


def fits(path: str, value: Any) -> bool:
    """Tell whether `value` may be the field at the path `record_path` of a record."""
    if type(value) not in FIELD_TYPES[path]:
        return False
    if path in TEXT_LISTS:
        return all(type(item) is str for item in value)
    if path in OBJECT_LISTS:
        return all(type(item) is dict for item in value)
    return True


def field_paths(
    record: Record, owners: frozenset[str] = frozenset()
) -> dict[str, bool]:
    """Return the path of each field that a record has, and whether all there is null.

    Members of `params`, `metadata`, each `extra`, and the objects at the paths `owners`
    in an extra have paths of their own.
    """
    found: dict[str, bool] = {}
    for path, value in _field_values(record, owners):
        found[path] = value is None and found.get(path, True)
    return found


def _field_values(record: Record, owners: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield each field that a record has, by its path; outputs can have the same ones.

    The paths are those of `field_paths`.
    """
    for name, value in zip(_of_record, _record_values(record), strict=True):
        if value is not UNSET:
            yield from _with_members(name, value, owners)
    for output in record.outputs:
        yield from _values_of_output(output, owners)


def _values_of_output(
    output: Output, owners: frozenset[str]
) -> Iterator[tuple[str, Any]]:
    for name, value in zip(_of_output, _output_values(output), strict=True):
        if value is not UNSET:
            yield from _with_members(f"outputs.{name}", value, owners)
    if output.scores is UNSET:
        return
    if not output.scores:
        yield "outputs.scores", []
    for score in output.scores:
        for name, value in zip(_of_score, _score_values(score), strict=True):
            if value is not UNSET:
                yield f"outputs.scores.{name}", value


def _with_members(
    path: str, value: Any, owners: frozenset[str]
) -> Iterator[tuple[str, Any]]:
    """Yield `path`, or the paths of its members if these have paths of their own."""
    if path in OPEN_OBJECTS and value:
        for key, member in value.items():
            yield f"{path}.{key}", member
    elif path.endswith("extra"):
        for vendor, members in value.items():
            for key, member in members.items():
                yield from _inner_members(f"{path}.{vendor}.{key}", member, owners)
    else:
        yield path, value
        if path == "messages" and value and value[0].get("role") == "system":
            yield SYSTEM_MESSAGE, value[0]


def _inner_members(
    path: str, value: Any, owners: frozenset[str]
) -> Iterator[tuple[str, Any]]:
    """Yield `path`, or the paths of the members of objects that hold fields in rows."""
    if path in owners:
        objects = value if type(value) is list else [value]
        if any(objects) and all(type(item) is dict for item in objects):
            for item in objects:
                for key, member in item.items():
                    yield from _inner_members(f"{path}.{key}", member, owners)
            return
    yield path, value
