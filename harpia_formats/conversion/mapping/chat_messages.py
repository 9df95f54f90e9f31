"""Helpers for formats with chats: messages, parts of content, losses."""

from collections.abc import Sequence
from operator import is_
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import FieldMapping, Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import (
    FieldOutcome,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
from harpia_formats.model.record import Record

#: The keys of a message that has no further ones.
_message_keys = {"role", "content"}
#: The roles of a chat that is a prompt, with the fields that its messages are, by the
#: number of messages.
_plain = {
    1: (("user", "prompt"),),
    2: (("system", "system"), ("user", "prompt")),
}
#: The change made to a message without content.
_emptied = "empty text for null"
#: The outcome that the hub records when it makes messages of an output's turns.
_messages_from_turns = FieldOutcome(Outcome.DEFAULTED, "messages", "of the turns")


def read_chat(messages: list[Row]) -> Row:
    """Return the fields of a record for a chat: a prompt, or messages if it is more."""
    count = len(messages)
    if count not in _plain:
        return {"messages": messages}
    fields = {}
    for message, (role, name) in zip(messages, _plain[count], strict=True):
        has_more = len(message) != len(_message_keys) or "content" not in message
        if has_more or message["role"] != role:
            return {"messages": messages}
        fields[name] = message["content"]
    return fields


def chat_fields(
    path: tuple[str, ...],
    messages: str = "",
    prompt: str = "the user's message, where it is the only one",
    system: str = "the message in front of a single prompt",
) -> tuple[FieldMapping, ...]:
    """Return the fields that a chat at `path` of a row is, with a note on each."""
    return (
        FieldMapping(path, "messages", note=messages),
        FieldMapping(path, "prompt", note=prompt),
        FieldMapping(path, "system", note=system),
    )


def write_chat(record: Record, outcomes: FieldOutcomes) -> list[Row]:
    """Return the chat that `record` asks; what changes is added to `outcomes`.

    Raises `Unconvertible` if the record has neither a prompt nor messages, or if a
    message cannot be written.
    """
    chat: list[Row] = []
    done = []
    if record.messages:
        chat = [with_text(message) for message in record.messages]
        if not all(map(is_, chat, record.messages)):
            done.append(_emptied)
        is_led = any(message["role"] == "system" for message in chat)
    elif record.prompt is not UNSET:
        chat, is_led = [{"role": "user", "content": record.prompt}], False
    else:
        reason = "the record has neither a prompt nor messages"
        raise Unconvertible("prompt", reason, "give it with `--set prompt=VALUE`")
    if record.system is not UNSET and not is_led:
        chat = [{"role": "system", "content": record.system}, *chat]
        done.append("with the system message")
    _record_outcomes(record, chat, "; ".join(done), outcomes)
    return chat


def system_message(record: Record) -> list[Row]:
    """Return the message of the system prompt of a record, none if it has none."""
    if record.system is UNSET:
        return []
    return [{"role": "system", "content": record.system}]


def with_text(message: Row) -> Row:
    """Return `message` with a text as its content, empty if it has none.

    Raises `Unconvertible` for a message without a role or with other content.
    """
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        raise Unconvertible("messages", "a message has no role")
    if isinstance(content, str):
        return message
    if content is not None:
        raise Unconvertible("messages", "the content of a message is not text")
    rest = {key: value for key, value in message.items() if key not in _message_keys}
    return {"role": role, "content": "", **rest}


def _record_outcomes(
    record: Record, chat: list[Row], done: str, outcomes: FieldOutcomes
) -> None:
    """Record which fields of `record` are others when `chat` is read."""
    back = read_chat(chat)
    for role, name in _plain[2]:
        mine, theirs = getattr(record, name), back.get(name, UNSET)
        if mine == theirs:
            continue
        if mine is UNSET:
            outcomes.defaulted(name, "of the messages")
        elif theirs is not UNSET:
            outcomes.changed(name, "that of the messages")
        elif {"role": role, "content": mine} in chat:
            outcomes.merged(name, f"a message of the {role}")
        else:
            outcomes.dropped(name, "the messages are used instead")
    _record_messages_outcome(
        record.messages, back.get("messages", UNSET), done, outcomes
    )


def _record_messages_outcome(
    mine: Any, theirs: Any, done: str, outcomes: FieldOutcomes
) -> None:
    if mine is UNSET and theirs is UNSET:
        return
    if mine is UNSET:
        outcomes.defaulted("messages", done)
    elif theirs is not UNSET:
        if len(mine) != len(theirs) or not all(map(is_, mine, theirs)):
            outcomes.changed("messages", done)
    elif not mine:
        outcomes.dropped("messages", "there are none")
    elif _messages_from_turns in outcomes.entries:
        # The record had no messages, and has none when the row is read.
        outcomes.entries.remove(_messages_from_turns)
    else:
        outcomes.merged("messages", "the prompt")


#: The key of a message in a record under which its parts are.
PARTS = "content_parts"
_content = "content"
#: The types of parts that are text, of chats and of responses.
_text_types = ("text", "input_text", "output_text")


def text_of_part(part: Any) -> str | None:
    """Return the text of a part, None if it is none."""
    if type(part) is not dict or part.get("type") not in _text_types:
        return None
    text = part.get("text")
    return text if type(text) is str else None


def read_parts(message: Row) -> Row:
    """Return a message as a record has it: `message` itself if it has no parts."""
    parts = message.get(_content)
    if type(parts) is not list or PARTS in message:
        return message
    return {**message, _content: _text_in(parts), PARTS: parts}


def write_parts(message: Row) -> Row:
    """Return a message with its parts as content, if they have the text of it."""
    parts = message.get(PARTS)
    if type(parts) is not list or _text_in(parts) != message.get(_content):
        return message
    own = {key: value for key, value in message.items() if key != PARTS}
    return {**own, _content: parts}


def _text_in(parts: list[Any]) -> str | None:
    """Return the texts of parts, None if there are none."""
    texts = [text for part in parts if (text := text_of_part(part)) is not None]
    return "".join(texts) if texts else None


#: The change made to a chat that does not fit a row.
CUT = "cut to one prompt"
_roles = {"prompt": "user", "system": "system"}


def no_question() -> Unconvertible:
    """Return the error for a record that has neither a prompt nor messages."""
    reason = "the record has neither a prompt nor messages"
    return Unconvertible("prompt", reason, "give it with `--set prompt=VALUE`")


def is_from_turns(outcomes: FieldOutcomes) -> bool:
    """Tell whether `fit_chats` made the messages of the turns of an output."""
    if not outcomes.entries:
        return False
    changed = (entry.path == "outputs.turns" for entry in outcomes.entries)
    return _messages_from_turns in outcomes.entries or any(changed)


def record_question_outcomes(
    record: Record, back: Row, done: Sequence[str], outcomes: FieldOutcomes
) -> None:
    """Record in `outcomes` which fields of `record` change when the row is read back.

    `back` has the fields that the row is read as, and `done` the changes made to the
    messages, in a few words each.
    """
    for name in _roles:
        _record_text_outcome(name, record, back, outcomes)
    _record_chat_outcome(record, back, done, outcomes)


def _record_text_outcome(
    name: str, record: Record, back: Row, outcomes: FieldOutcomes
) -> None:
    mine, theirs = getattr(record, name), back.get(name, UNSET)
    if mine == theirs:
        return
    if mine is UNSET:
        outcomes.defaulted(name, "of the messages")
    elif theirs is not UNSET:
        outcomes.changed(name, "that of the messages")
    elif any(
        message.get("role") == _roles[name] and message.get("content") == mine
        for message in back.get("messages", ())
    ):
        outcomes.merged(name, f"a message of the {_roles[name]}")
    else:
        outcomes.dropped(name, "the messages are used instead")


def _record_chat_outcome(
    record: Record, back: Row, done: Sequence[str], outcomes: FieldOutcomes
) -> None:
    mine, theirs = record.messages, back.get("messages", UNSET)
    if _is_same_chat(mine, theirs):
        return
    if theirs is not UNSET:
        outcomes.changed("messages", "; ".join(done))
    elif not mine:
        outcomes.dropped("messages", "there are none")
    elif _messages_from_turns in outcomes.entries:
        # The record had no messages, and the row has none.
        outcomes.entries.remove(_messages_from_turns)
    elif CUT in done:
        outcomes.changed("messages", CUT)
    else:
        outcomes.merged("messages", "; ".join(["the prompt", *done]))


def _is_same_chat(mine: Any, theirs: Any) -> bool:
    """Tell whether two lists of messages, or none, have the same JSON text."""
    if mine != theirs:
        return False
    # Mostly the messages are themselves; else the order of their keys counts as well.
    same = mine is theirs or all(map(is_, mine, theirs))
    return same or encode(mine) == encode(theirs)
