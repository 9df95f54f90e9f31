"""The turns of a conversation, as a row has them and as a record has them.

A record leaves out the number of a turn where it is its place in the list, and calls
`reasoning` what a row calls `reasoning_trace`. Where a turn has a key of the other
name, that changes places with it, so that nothing is lost.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.versions import Form, as_text, is_count, is_texts
from harpia_formats.model.adapter import DECLINED, ChangedValue

Turn = dict[str, Any]

_number = "turn_idx"
_swapped = {"reasoning_trace": "reasoning", "reasoning": "reasoning_trace"}


def read_turns(given: Any) -> Any:
    """Return the turns of a row as a record has them."""
    if type(given) is not list:
        return DECLINED
    return [_read_turn(place, turn) for place, turn in enumerate(given)]


def _read_turn(place: int, turn: Turn) -> Turn:
    turn = {_swapped.get(key, key): value for key, value in turn.items()}
    if _is_place(turn[_number], place):
        del turn[_number]
    return turn


def _is_place(number: Any, place: int) -> bool:
    return type(number) is int and number == place


def write_turns(turns: list[Turn], form: Form) -> Any:
    """Return the turns of a record as a row has them, valid in its shape."""
    written, is_altered = [], False
    for place, turn in enumerate(turns):
        one = _write_turn(place, turn, form)
        is_altered |= type(one) is ChangedValue
        written.append(one.value if type(one) is ChangedValue else one)
    return ChangedValue(written, "as turns may be there") if is_altered else written


def _write_turn(place: int, turn: Turn, form: Form) -> Any:
    own: Turn = {} if _number in turn else {_number: place}
    is_altered = False
    for key, value in turn.items():
        known = _mended(key, value, form)
        if key == _number and not (is_count(value) and not _is_place(value, place)):
            known, is_altered = place, True
        is_altered |= known is not value
        if known is not UNSET:
            own[_swapped.get(key, key)] = known
    if "role" not in own:
        own["role"], is_altered = "", True
    return ChangedValue(own, "") if is_altered else own


def _mended(key: str, value: Any, form: Form) -> Any:
    """Return what may stand at `key` of a turn: `value` itself if that may."""
    mend = _menders.get(key)
    return value if mend is None else mend(value, form)


def _role(value: Any, form: Form) -> Any:  # noqa: ARG001 - as the others
    return as_text(value)


def _text_or_null(value: Any, form: Form) -> Any:  # noqa: ARG001 - as the others
    return None if value is None else as_text(value)


def _tool_calls(value: Any, form: Form) -> Any:
    if value is None:
        return value
    if type(value) is not list:
        return UNSET
    calls = [_tool_call(call, form) for call in value]
    if all(ours is theirs for ours, theirs in zip(calls, value, strict=True)):
        return value
    return [call for call in calls if call is not UNSET]


def _tool_call(call: Any, form: Form) -> Any:
    if type(call) is not dict:
        return UNSET
    changes = {
        key: as_text(call.get(key, ""))
        for key in ("id", "name")
        if type(call.get(key)) is not str
    }
    given = call.get("arguments", UNSET)
    arguments = _arguments(given, form)
    if arguments is given:
        return {**call, **changes} if changes else call
    rest = {key: value for key, value in call.items() if key != "arguments"}
    return {
        **rest,
        **changes,
        **({} if arguments is UNSET else {"arguments": arguments}),
    }


def _arguments(value: Any, form: Form) -> Any:
    if type(value) is dict:
        return texts_in(value) if form.is_closed else value
    return value if value is None and form.is_closed else UNSET


def texts_in(members: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose values are text: `members` itself if it is one."""
    if all(type(each) is str for each in members.values()):
        return members
    return {key: as_text(value) for key, value in members.items()}


def _tool_call_id(value: Any, form: Form) -> Any:
    if value is None:
        return value if form.is_closed else UNSET
    if type(value) is list:
        return value if is_texts(value) else [as_text(item) for item in value]
    return [as_text(value)] if form.is_closed else as_text(value)


_menders: dict[str, Callable[[Any, Form], Any]] = {
    "role": _role,
    "content": _text_or_null,
    "reasoning": _text_or_null,
    "tool_calls": _tool_calls,
    "tool_call_id": _tool_call_id,
}
