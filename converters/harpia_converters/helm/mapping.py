"""The adapter of the format helm: instances with their requests to records."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from harpia_converters.helm.completions import outputs_of
from harpia_converters.helm.run import ALONE
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Header, Record

_vendor = "helm"
#: Members of a request that are fields; all others are settings.
_known_of_request = frozenset(
    "model model_deployment prompt messages multimodal_prompt embedding".split()
)
#: Members of an instance that are fields, or metadata.
_known_of_instance = frozenset("id input references split sub_split".split())
_correct = "correct"


def _read(row: Row) -> Record:
    return _record(row, UNSET, UNSET)


def _reader_in(run: Mapping[str, Any]) -> Callable[[Row], Record]:
    """Return the function that reads an instance of a run with these files."""
    source, name = _name_in(run, "scenario"), _name_in(run, "run_spec")

    def read(row: Row) -> Record:
        return _record(row, source, name)

    return read


def _needed_around(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the names in a run's files."""
    files = ("scenario", "run_spec")
    return {key: {"name": _name_in(run, key)} for key in files if _name_in(run, key)}


def _name_in(run: Mapping[str, Any], file: str) -> str | UnsetType:
    found = run.get(file)
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else UNSET


def _record(row: Row, source: str | UnsetType, name: str | UnsetType) -> Record:
    """Return the record of an instance of the scenario `source`, in the run `name`."""
    states: list[Row] = row["states"]
    state = states[0]
    instance: Row = state["instance"]
    asked = instance["input"]
    messages = asked.get("messages")
    text = asked.get("text")
    is_chat = _is_chat(messages)
    choices = _choices(states)
    return Record(
        id=instance["id"],
        prompt=text if isinstance(text, str) and (text or not is_chat) else UNSET,
        messages=messages if is_chat else UNSET,
        references=_texts(instance, is_correct=True),
        choices=choices,
        source=source,
        params=_settings(state["request"]),
        metadata=_metadata(state),
        extra=_extra(row, choices),
        outputs=outputs_of(states, row.get("stats"), name),
    )


def _is_chat(messages: Any) -> bool:
    return bool(messages) and all(
        type(message) is dict
        and type(message.get("role")) is str
        and type(message.get("content", "")) in {str, type(None)}
        for message in messages
    )


def _texts(instance: Row, *, is_correct: bool = False) -> list[str]:
    """Return the texts of the references, or of those that are correct."""
    return [
        one["output"]["text"]
        for one in instance["references"]
        if not is_correct or _correct in one["tags"]
    ]


def _choices(states: list[Row]) -> list[str] | UnsetType:
    """Return the options of a question, `UNSET` if it is not multiple choice.

    They are what the letters stand for, or the references where each has its own
    request. References of other questions are answers, and no options.
    """
    if "reference_index" in states[0]:
        return _texts(states[0]["instance"])
    mapping = states[0].get("output_mapping")
    return list(mapping.values()) if mapping else UNSET


def _settings(request: Row) -> Row | UnsetType:
    found = {key: item for key, item in request.items() if key not in _known_of_request}
    return found or UNSET


def _metadata(state: Row) -> Row:
    """Return the split, the trial and the perturbation of an instance."""
    instance = state["instance"]
    found = {key: instance[key] for key in ("split", "sub_split") if key in instance}
    found["train_trial_index"] = state["train_trial_index"]
    changed = instance.get("perturbation")
    if changed and "name" in changed:
        found["perturbation"] = changed["name"]
    return found


def _extra(row: Row, choices: list[str] | UnsetType) -> dict[str, Row] | UnsetType:
    """Return what is known of the instance beside its fields."""
    states: list[Row] = row["states"]
    instance = states[0]["instance"]
    kept = {
        key: item for key, item in instance.items() if key not in _known_of_instance
    }
    more = {
        key: item
        for key, item in instance["input"].items()
        if key not in {"text", "messages"} or (key == "messages" and not _is_chat(item))
    }
    if more:
        kept["input"] = more
    if not _are_told(instance["references"], choices):
        kept["references"] = instance["references"]
    return {_vendor: {"instance": kept}} if kept else UNSET


def _are_told(references: list[Row], choices: list[str] | UnsetType) -> bool:
    """Tell whether references and choices of the record say all of `references`."""
    has_choices = choices is not UNSET and choices == [
        one["output"].get("text") for one in references
    ]
    return all(
        (one["tags"] == [_correct] or (has_choices and not one["tags"]))
        and one.keys() == {"output", "tags"}
        and one["output"].keys() == {"text"}
        for one in references
    )


def _read_header(document: Row) -> Header:
    """Return the settings of the run as a header."""
    members = {key: item for key, item in document.items() if item is not None}
    scenario, run_spec = (members.pop(key, UNSET) for key in ("scenario", "run_spec"))
    return Header(
        task=scenario if type(scenario) is dict else UNSET,
        evaluation=run_spec if type(run_spec) is dict else UNSET,
        extra={_vendor: members} if members else UNSET,
    )


def _alone(state: Row) -> Row:
    """Return a request of a scenario_state.json as an instance without statistics."""
    return {"states": [state], "stats": None}


_instance = ("states", "instance")
_request = ("states", "request")
_completion = ("states", "result", "completions")
RUN = FormatAdapter(
    vendor=_vendor,
    fields=(
        FieldMapping(("instance_id",), "id", required=True),
        FieldMapping((*_instance, "input", "text"), "prompt"),
        FieldMapping((*_instance, "input", "messages"), "messages"),
        FieldMapping(
            (*_instance, "references"),
            "references",
            note="the texts that are tagged `correct`",
        ),
        FieldMapping(
            ("states", "output_mapping"),
            "choices",
            note="the values; all references where each has a request of its own",
        ),
        FieldMapping(_request, "params", note="its settings"),
        FieldMapping(
            _instance,
            "metadata",
            note="its split and perturbation, with `train_trial_index`",
        ),
        FieldMapping((*_request, "model"), "outputs.model"),
        FieldMapping((*_request, "prompt"), "outputs.formatted_prompt"),
        FieldMapping((*_completion, "text"), "outputs.text", note="as it was written"),
        FieldMapping((*_completion, "thinking", "text"), "outputs.reasoning"),
        FieldMapping(("states", "result", "error"), "outputs.error"),
        FieldMapping(
            ("states", "result", "request_time"),
            "outputs.performance",
            note="`latency_ms`, of the first completion",
        ),
        FieldMapping(
            ("stats", "stats", "mean"),
            "outputs.scores.value",
            note="null where there is no value; without bookkeeping",
        ),
        FieldMapping(("stats", "stats", "name", "name"), "outputs.scores.metric"),
        FieldMapping(("run_spec", "name"), "outputs.scores.evaluation_id"),
    ),
    read=_read,
    capacity=RowCapacity(
        Cardinality.MANY,
        Cardinality.MANY_OF_ONE_MODEL,
        Cardinality.MANY,
        messages=True,
    ),
    reader_in=_reader_in,
    needed_around=_needed_around,
    read_header=_read_header,
    dialect_normalizers={ALONE: _alone},
    other_paths=frozenset(
        {
            "source",
            "outputs.index",
            "outputs.attribution",
            "outputs.token_usage",
            "outputs.scores.is_correct",
            "outputs.scores.signature",
            "outputs.scores.evaluation_name",
            f"outputs.extra.{_vendor}",
        }
    ),
)
