"""Detect rows of OpenAI's files by their keys, apart from other vendors' chats.

Source: OpenAI's reference of chat completions, of fine-tuning files and of batches.
"""

from collections.abc import Iterator, Mapping
from typing import Any

VENDOR = "OpenAI"
#: The endpoint to which requests are written.
CHAT_URL = "/v1/chat/completions"

#: Keys of a row and of a message that no other tool writes beside `messages`.
_own_keys = ("tools", "functions", "parallel_tool_calls")
_own_message_keys = ("weight", "tool_calls", "function_call", "tool_call_id")
#: Keys of other vendors' records with `messages`; a row with any is not OpenAI's.
_foreign_keys = frozenset(
    "model_outputs ref_answer interaction_type answer_attribution outputs".split()
)
_batch_places = ("method", "url")


def chat_sign(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a chat, which may be another tool's too, or ""."""
    messages = row.get("messages")
    if not isinstance(messages, list) or _foreign_keys & row.keys():
        return ""
    if not any(isinstance(each, Mapping) and "role" in each for each in messages):
        return ""
    return own_chat_sign(row) or "`messages`"


def own_chat_sign(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a chat of OpenAI and of no other tool, or ""."""
    messages = row.get("messages")
    if not isinstance(messages, list) or _foreign_keys & row.keys():
        return ""
    chat = [message for message in messages if isinstance(message, Mapping)]
    return next(_own_signs(row, chat), "") if chat else ""


def _own_signs(row: Mapping[str, Any], chat: list[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"`{key}`" for key in _own_keys if key in row)
    for message in chat:
        found = (key for key in _own_message_keys if key in message)
        yield from (f"`{key}` in a message" for key in found)
        content = message.get("content", "")
        if "role" in message and content is None:
            yield "a message whose content is null"
        elif (
            "role" in message and isinstance(content, list) and not _has_value(content)
        ):
            yield "a message whose content is a list"


def _has_value(content: list[Any]) -> bool:
    """Tell whether a part of `content` has a key that OpenAI's parts do not have."""
    return any(isinstance(part, Mapping) and "value" in part for part in content)


def preference_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an example with two answers, or ""."""
    if "preferred_output" in row and ("input" in row or "non_preferred_output" in row):
        return "`preferred_output`"
    return ""


def request_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a request of a batch, or ""."""
    if "custom_id" not in row or "response" in row:
        return ""
    place = next((key for key in ("body", *_batch_places) if key in row), "")
    return f"`custom_id` and `{place}`" if place else ""


def result_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is the result of a request of a batch, or ""."""
    found = "custom_id" in row and "response" in row
    return "`custom_id` and `response`" if found else ""
