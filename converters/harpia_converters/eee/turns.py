"""Turns, token usage and times, converted from rows to records and back."""

from collections.abc import Callable
from functools import lru_cache
from operator import is_
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.versions import (
    TEXT_ONLY,
    Version,
    as_text,
    is_amount,
    is_count,
    is_texts,
)
from harpia_formats.model.adapter import DECLINED, ChangedValue
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcome, FieldOutcomes, Outcome

Turn = dict[str, Any]

_number = "turn_idx"
#: The keys of a turn as most rows have them, and those that it has in a record.
_usual_in_row = [_number, "role", "content", "reasoning_trace", "tool_calls"]
_usual_in_record = ["role", "content", "reasoning", "tool_calls"]
_swapped = {"reasoning_trace": "reasoning", "reasoning": "reasoning_trace"}


def read_turns(given: Any) -> Any:
    """Return the turns of a row as a record has them."""
    if type(given) is not list:
        return DECLINED
    turns = []
    for place, turn in enumerate(given):
        # Most turns have the usual keys, which are taken without a loop over them.
        if [*turn] == _usual_in_row:
            number, role, content, trace, calls = turn.values()
            if type(number) is int and number == place:
                turns.append(
                    {
                        "role": role,
                        "content": content,
                        "reasoning": trace,
                        "tool_calls": calls,
                    }
                )
                continue
        turns.append(read_turn(place, turn))
    return turns


def read_turn(place: int, turn: Turn) -> Turn:
    """Return the turn of a row at `place` as a record has it: any keys."""
    turn = {_swapped.get(key, key): value for key, value in turn.items()}
    if _is_place(turn[_number], place):
        del turn[_number]
    return turn


def _is_place(number: Any, place: int) -> bool:
    return type(number) is int and number == place


def write_turns(turns: list[Turn], version: Version) -> Any:
    """Return the turns of a record as a row has them, valid in its shape."""
    written, is_altered = [], False
    for place, turn in enumerate(turns):
        if [*turn] == _usual_in_record:
            role, content, reasoning, given = turn.values()
            calls = given if given is None else _tool_calls(given, version)
            if (
                type(role) is str
                and (type(content) is str or content is None)
                and (reasoning is None or type(reasoning) is str)
                and calls is not UNSET
            ):
                is_altered = is_altered or calls is not given
                written.append(
                    {
                        _number: place,
                        "role": role,
                        "content": content,
                        "reasoning_trace": reasoning,
                        "tool_calls": calls,
                    }
                )
                continue
        one = write_turn(place, turn, version)
        is_altered |= type(one) is ChangedValue
        written.append(one.value if type(one) is ChangedValue else one)
    return (
        ChangedValue(written, "made valid for this version") if is_altered else written
    )


def write_turn(place: int, turn: Turn, version: Version) -> Any:
    """Return the turn of a record at `place` as a row has it: any keys and values.

    A `ChangedValue` if some are not valid in its shape.
    """
    own: Turn = {} if _number in turn else {_number: place}
    is_altered = False
    for key, value in turn.items():
        mend = _menders.get(key)
        known = value if mend is None else mend(value, version)
        if key == _number and not (is_count(value) and not _is_place(value, place)):
            known, is_altered = place, True
        is_altered |= known is not value
        if known is not UNSET:
            own[_swapped.get(key, key)] = known
    if "role" not in own:
        own["role"], is_altered = "", True
    return ChangedValue(own, "") if is_altered else own


def _role(value: Any, version: Version) -> Any:  # noqa: ARG001 - the signature of `_menders`
    return as_text(value)


def _text_or_null(value: Any, version: Version) -> Any:  # noqa: ARG001 - the signature of `_menders`
    return None if value is None else as_text(value)


def _tool_calls(value: Any, version: Version) -> Any:
    if value is None:
        return value
    if type(value) is not list:
        return UNSET
    calls = [_tool_call(call, version) for call in value]
    if all(map(is_, calls, value)):
        return value
    return [call for call in calls if call is not UNSET]


def _tool_call(call: Any, version: Version) -> Any:
    if type(call) is not dict:
        return UNSET
    given = call.get("arguments", UNSET)
    arguments = _arguments(given, version)
    if (
        arguments is given
        and type(call.get("id")) is str
        and type(call.get("name")) is str
    ):
        return call
    changes = {
        key: as_text(call.get(key, ""))
        for key in ("id", "name")
        if type(call.get(key)) is not str
    }
    if arguments is given:
        return {**call, **changes}
    rest = {key: value for key, value in call.items() if key != "arguments"}
    return {
        **rest,
        **changes,
        **({} if arguments is UNSET else {"arguments": arguments}),
    }


def _arguments(value: Any, version: Version) -> Any:
    if type(value) is dict:
        return texts_in(value) if version.is_closed else value
    return value if value is None and version.is_closed else UNSET


def texts_in(members: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose values are text: `members` itself if it is one."""
    if TEXT_ONLY.issuperset(map(type, members.values())):
        return members
    return {
        key: value if type(value) is str else encode(value).decode()
        for key, value in members.items()
    }


def _tool_call_id(value: Any, version: Version) -> Any:
    if value is None:
        return value if version.is_closed else UNSET
    if type(value) is list:
        return value if is_texts(value) else [as_text(item) for item in value]
    return [as_text(value)] if version.is_closed else as_text(value)


_menders: dict[str, Callable[[Any, Version], Any]] = {
    "role": _role,
    "content": _text_or_null,
    "reasoning": _text_or_null,
    "tool_calls": _tool_calls,
    "tool_call_id": _tool_call_id,
}


_counts = ("input_tokens", "output_tokens", "total_tokens")
_more_counts = (
    "input_tokens_cache_write",
    "input_tokens_cache_read",
    "reasoning_tokens",
)
_times = ("latency_ms", "time_to_first_token_ms", "generation_time_ms")
_details = "additional_details"


def write_usage(usage: dict[str, Any]) -> Any:
    """Return token usage without invalid counts; `UNSET` if it lacks a required one."""
    get = usage.get
    for key in _counts:
        count = get(key)
        # Most counts are integers, which need no call.
        if (type(count) is not int or count < 0) and not is_count(count):
            return ChangedValue(UNSET, f"left out: it has no count of {key}")
    wrong = []
    for key in _more_counts:
        count = get(key)
        if count is not None and not is_count(count):
            wrong.append(key)
    return _without(usage, wrong) if wrong else usage


def _without(members: dict[str, Any], keys: list[str]) -> Any:
    if not keys:
        return members
    left = {key: value for key, value in members.items() if key not in keys}
    return ChangedValue(left, f"without {', '.join(keys)}")


def write_performance(times: dict[str, Any], version: Version) -> Any:
    """Return the times of an output, in milliseconds, without invalid values."""
    wrong = []
    for name in _times:
        time = times.get(name)
        if time is not None and not is_amount(time):
            wrong.append(name)
    details = times.get(_details)
    if not version.is_closed or details is None:
        return _without(times, wrong)
    if type(details) is not dict:
        return _without(times, [*wrong, _details])
    if wrong or texts_in(details) is not details:
        times = {**times, _details: texts_in(details)}
        return ChangedValue(
            {key: value for key, value in times.items() if key not in wrong},
            f"{_details} as text",
        )
    return times


def written_metadata(metadata: Any, version: Version, outcomes: FieldOutcomes) -> Any:
    """Return the metadata of a record, with values as text if the version asks it.

    It is `metadata` itself if nothing is changed.
    """
    if (
        metadata is UNSET
        or not version.is_closed
        or TEXT_ONLY.issuperset(map(type, metadata.values()))
    ):
        return metadata
    texts = {}
    for key, value in metadata.items():
        if type(value) is str:
            texts[key] = value
            continue
        outcomes.entries.append(_as_json_text(key))
        # Most are integers, whose text needs no encoder.
        is_int = type(value) is int
        texts[key] = str(value) if is_int else encode(value).decode()
    return texts


@lru_cache(1_000)
def _as_json_text(key: str) -> FieldOutcome:
    """Return the outcome of a member of the metadata that becomes JSON text."""
    return FieldOutcome(Outcome.CHANGED, f"metadata.{key}", "as JSON text")
