"""The tool calls of messages, converted from rows to records and back.

A row has `{"id", "type": "function", "function": {"name", "arguments"}}` with the
arguments as JSON text, a record `{"id", "name", "arguments"}` with them as an object.
The older `function_call` of a row is a tool call without an id in a record.
"""

from typing import Any, TypeGuard

from harpia_formats.files.parsing.locate import repeats_key
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import NOT_JSON, decode, encode

CALLS, OLD_CALL = "tool_calls", "function_call"
_function_keys = {"name", "arguments"}
_call_keys = {"id", "type", "function"}
#: The keys of a call in a record, with and without an id.
_record_keys = ({"id", "name", "arguments"}, {"name", "arguments"})


def read_message(message: Row) -> Row:
    """Return a message of a row as a record has it: `message` itself without calls."""
    calls = message.get(CALLS)
    if isinstance(calls, list) and calls:
        return {**message, CALLS: [_read_call(call) for call in calls]}
    old = message.get(OLD_CALL)
    if CALLS in message or not _is_function(old):
        return message
    return _with_member(message, OLD_CALL, CALLS, [_read_function(old)])


def write_message(message: Row) -> Row:
    """Return a message of a record as a row has it: `message` itself without calls."""
    calls = message.get(CALLS)
    if not isinstance(calls, list) or not calls:
        return message
    if len(calls) == 1 and _has_keys(calls[0], _record_keys[1]):
        return _with_member(message, CALLS, OLD_CALL, _written_function(calls[0]))
    return {**message, CALLS: [_write_call(call) for call in calls]}


def _with_member(message: Row, old: str, key: str, value: Any) -> Row:
    """Return `message` with another member in the place of the `old` one."""
    own = {old: (key, value)}
    return dict(own.get(name, (name, member)) for name, member in message.items())


def as_turn_call(call: Row) -> Row:
    """Return a call of a record for a turn, where arguments are an object or null."""
    if type(call.get("arguments", {})) in {dict, type(None)}:
        return call
    return {**call, "arguments": None}


def as_turn(message: Row) -> Row:
    """Return a message of a record as a turn: `message` itself if its calls are."""
    calls = message.get(CALLS)
    if not isinstance(calls, list) or not all(type(call) is dict for call in calls):
        return message
    return {**message, CALLS: [as_turn_call(call) for call in calls]}


def read_arguments(text: str) -> Any:
    """Return the object that the JSON text is, or `text` itself if it is none.

    So it is of an object that has a key twice: one of the values would be lost.
    """
    try:
        found = decode(text.encode())
    except (*NOT_JSON, UnicodeEncodeError):
        return text
    is_whole = type(found) is dict and not repeats_key(text, found)
    return found if is_whole else text


def _has_keys(call: Any, keys: set[str]) -> bool:
    return type(call) is dict and call.keys() == keys


def _is_function(value: Any) -> TypeGuard[Row]:
    """Tell whether a value is a name and arguments, both as text, and nothing else."""
    return _has_keys(value, _function_keys) and all(
        type(member) is str for member in value.values()
    )


def _read_call(call: Any) -> Any:
    """Return a call as a record has it; one with other keys or types as it is."""
    if not _has_keys(call, _call_keys) or type(call["id"]) is not str:
        return call
    if call["type"] != "function" or not _is_function(call["function"]):
        return call
    return {"id": call["id"], **_read_function(call["function"])}


def _read_function(function: Row) -> Row:
    arguments = read_arguments(function["arguments"])
    return {"name": function["name"], "arguments": arguments}


def _write_call(call: Any) -> Any:
    """Return a call as a row has it, by what it has; one of a row as it is."""
    if type(call) is not dict:
        call = {}
    if _is_written(call):
        return call
    return {
        "id": _text_of(call.get("id", "")),
        "type": "function",
        "function": _written_function(call),
    }


def are_written(key: str, calls: Any) -> bool:
    """Tell whether a member of a message, by its key, is calls as rows have them."""
    if key == OLD_CALL:
        return _is_callable(calls)
    is_list = type(calls) is list
    return is_list and all(type(each) is dict and _is_written(each) for each in calls)


def _is_written(call: Row) -> bool:
    """Tell whether a call has what one of a row must have."""
    if type(call.get("id")) is not str or type(call.get("type")) is not str:
        return False
    return "function" not in call or _is_callable(call["function"])


def _is_callable(function: Any) -> bool:
    """Tell whether a value has a name and arguments as text, maybe among others."""
    return type(function) is dict and all(
        type(function.get(key)) is str for key in _function_keys
    )


def _written_function(call: Row) -> Row:
    """Return the name and the arguments of a record's call as a row has them."""
    arguments = call.get("arguments", {})
    text = arguments if type(arguments) is str else encode(arguments).decode()
    return {"name": _text_of(call.get("name", "")), "arguments": text}


def _text_of(value: Any) -> str:
    return value if type(value) is str else encode(value).decode()
