"""The input of the endpoint /v1/responses: items to messages, and back."""

from typing import Any

from harpia_converters.openai.tool_calls import CALLS, read_arguments
from harpia_formats.conversion.mapping.content_parts import read_parts
from harpia_formats.model.adapter import Row

_call_keys = {"type", "call_id", "name", "arguments"}
_result_keys = {"type", "call_id", "output"}


def read_items(items: Any) -> list[Row] | None:
    """Return a list of items as messages, None if one of them is no message."""
    if type(items) is not list or not items:
        return None
    messages = [_read_item(item) for item in items]
    known = [message for message in messages if message is not None]
    return known if len(known) == len(messages) else None


def _read_item(item: Any) -> Row | None:
    if type(item) is not dict:
        return None
    if type(item.get("role")) is str:
        return read_parts(item)
    texts = all(type(value) is str for value in item.values())
    if texts and item.keys() == _call_keys and item["type"] == "function_call":
        arguments = read_arguments(item["arguments"])
        call = {"id": item["call_id"], "name": item["name"], "arguments": arguments}
        return {"role": "assistant", CALLS: [call]}
    if texts and item.keys() == _result_keys and item["type"] == "function_call_output":
        return {
            "role": "tool",
            "tool_call_id": item["call_id"],
            "content": item["output"],
        }
    return None


def write_items(messages: list[Row]) -> list[Row]:
    """Return messages of a chat as items: calls and their results are their own."""
    items: list[Row] = []
    for message in messages:
        calls = message.get(CALLS, ())
        if message.keys() == {"role", CALLS} and all(map(_is_function, calls)):
            items += [_call_item(call) for call in calls]
        elif message.keys() == {"role", "tool_call_id", "content"}:
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            items.append({"type": "function_call_output", **output})
        else:
            items.append(message)
    return items


def _is_function(call: Any) -> bool:
    return call.get("type") == "function" and "function" in call


def _call_item(call: Row) -> Row:
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": call["id"],
        "name": function["name"],
        "arguments": function["arguments"],
    }
