"""Messages to the question of a record and back, and keys that are no fields."""

from typing import Any

from msgspec import UNSET

from harpia_converters.openai.tool_calls import (
    CALLS,
    OLD_CALL,
    are_written,
    read_message,
    write_message,
)
from harpia_formats.conversion.mapping.chat_messages import (
    PARTS,
    is_from_turns,
    no_question,
    read_chat,
    read_parts,
    system_message,
    text_of_part,
    write_parts,
)
from harpia_formats.conversion.mapping.fields import without
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Record

#: The keys in `extra` under which those of examples and those of batches are kept.
EXAMPLES, BATCHES = "openai", "openai-batch"


#: The roles of messages that OpenAI documents.
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MESSAGE_KEYS = ("role", "content")
#: The keys that OpenAI documents for a message.
_known_keys = frozenset(
    "role content name tool_calls function_call tool_call_id weight refusal "
    "audio".split()
)
#: The types of those that are no content and no calls, as far as rows are checked.
_types = {"name": (str,), "tool_call_id": (str,), "weight": (int, float)}


def read_question(messages: list[Row]) -> Row:
    """Return the record's fields for a chat: a prompt, or messages for more."""
    fields = read_chat(messages)
    if type(fields.get("prompt")) is str and type(fields.get("system", "")) is str:
        return fields
    if any(CALLS in message or OLD_CALL in message for message in messages):
        messages = [read_message(message) for message in messages]
    return {"messages": [read_parts(message) for message in messages]}


def question_messages(
    record: Record, outcomes: FieldOutcomes
) -> tuple[list[Row], list[str]]:
    """Return the question of a record as messages, and the changes made to them.

    Raises `Unconvertible` if there is no question, or if a message is none of OpenAI's.
    """
    if not record.messages and record.prompt is not UNSET:
        question = {"role": "user", "content": record.prompt}
        return [*system_message(record), question], []
    if record.messages is UNSET:
        raise no_question()
    from_turns = is_from_turns(outcomes)
    done: dict[str, None] = {}
    chat = [_written(each, done, from_turns=from_turns) for each in record.messages]
    if from_turns and done:
        outcomes.changed("outputs.turns", "; ".join(done))
    start = system_message(record)
    if not start or any(message["role"] == "system" for message in chat):
        return chat, [*done]
    return [*start, *chat], [*done, "with the system message"]


def _written(message: Row, done: dict[str, None], *, from_turns: bool) -> Row:
    """Return a message of a record as a row has it; changes are added to `done`.

    Raises `Unconvertible` for one without a known role or with other content.
    """
    role = message.get("role")
    if role not in ROLES:
        given = f"the role {role!r}" if isinstance(role, str) else "no role"
        reason = f"a message has {given}, and OpenAI knows {', '.join(ROLES)}"
        raise Unconvertible("messages", reason)
    message = write_parts(message)
    if PARTS in message:
        done["without the parts of another text"] = None
        message = without(message, {PARTS})
    if from_turns and not message.keys() <= _known_keys:
        done["with OpenAI's keys only"] = None
        message = {key: message[key] for key in message if key in _known_keys}
    written = write_message(_with_calls(message, done))
    written = _with_call_id(written, done)
    if read_message(written) != message:
        done["tool calls in OpenAI's form"] = None
    return _with_content(written, done)


def _with_calls(message: Row, done: dict[str, None]) -> Row:
    """Return `message` without calls that are none."""
    calls = message.get(CALLS, UNSET)
    if calls is UNSET or isinstance(calls, list):
        return message
    done["without null for tool calls"] = None
    return without(message, {CALLS})


def _with_call_id(message: Row, done: dict[str, None]) -> Row:
    """Return `message` with the id of one call as text, if it has any."""
    given = message.get("tool_call_id", UNSET)
    if given is UNSET or isinstance(given, str):
        return message
    done["the id of one tool call"] = None
    first = given[0] if isinstance(given, list) and given else None
    if not isinstance(first, str):
        return without(message, {"tool_call_id"})
    return {**message, "tool_call_id": first}


def _with_content(message: Row, done: dict[str, None]) -> Row:
    """Return `message` with content that OpenAI allows for its role.

    Raises `Unconvertible` for content that is neither text nor parts.
    """
    content = message.get("content")
    if _is_content(content):
        return message
    if content is None:
        if message["role"] == "assistant":
            return message
        done["empty text for null"] = None
        return {
            "role": message["role"],
            "content": "",
            **without(message, MESSAGE_KEYS),
        }
    reason = "the content of a message is neither text nor a list of parts"
    raise Unconvertible("messages", reason)


def is_member(key: str, value: Any) -> bool:
    """Tell whether OpenAI allows a value for a key of a message of the assistant."""
    if key in {CALLS, OLD_CALL}:
        return are_written(key, value)
    if key == "content":
        return value is None or _is_content(value)
    return type(value) in _types.get(key, (type(value),))


def _is_content(content: Any) -> bool:
    """Tell whether a value is text, or a list of parts."""
    is_list = type(content) is list
    return type(content) is str or (is_list and all(map(_is_part, content)))


def _is_part(part: Any) -> bool:
    return type(part) is dict and type(part.get("type")) is str


def text_of(content: Any) -> str | None:
    """Return `content`, or the texts of its parts; None if it is or has anything else.

    There must be one part at least.
    """
    if type(content) is str:
        return content
    if type(content) is not list or not content:
        return None
    texts = [text_of_part(part) for part in content]
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else None
