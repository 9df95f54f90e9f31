"""Convert the messages that a model is given to the prompt of a record, and back."""

from operator import is_
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates, Unconvertible
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
#: The fate that the hub records when it makes messages of an output's turns.
_messages_from_turns = FieldFate(Fate.DEFAULTED, "messages", "of the turns")


def read_chat(messages: list[Row]) -> Row:
    """Return the fields of a record for a chat: a prompt, or messages if it is more."""
    roles = _plain.get(len(messages), ())
    fields = {}
    for message, (role, name) in zip(messages, roles, strict=False):
        if message["role"] != role or message.keys() != _message_keys:
            return {"messages": messages}
        fields[name] = message["content"]
    return fields or {"messages": messages}


def write_chat(record: Record, fates: FieldFates) -> list[Row]:
    """Return the chat that `record` asks; what changes is added to `fates`.

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
        raise Unconvertible("prompt", reason, "give it with --set prompt=VALUE")
    if record.system is not UNSET and not is_led:
        chat = [{"role": "system", "content": record.system}, *chat]
        done.append("with the system message")
    _record_fates(record, chat, "; ".join(done), fates)
    return chat


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


def _record_fates(
    record: Record, chat: list[Row], done: str, fates: FieldFates
) -> None:
    """Record which fields of `record` are others when `chat` is read."""
    back = read_chat(chat)
    for role, name in _plain[2]:
        mine, theirs = getattr(record, name), back.get(name, UNSET)
        if mine == theirs:
            continue
        if mine is UNSET:
            fates.defaulted(name, "of the messages")
        elif theirs is not UNSET:
            fates.changed(name, "that of the messages")
        elif {"role": role, "content": mine} in chat:
            fates.merged(name, f"a message of the {role}")
        else:
            fates.dropped(name, "the messages are used instead")
    _record_messages_fate(record.messages, back.get("messages", UNSET), done, fates)


def _record_messages_fate(mine: Any, theirs: Any, done: str, fates: FieldFates) -> None:
    if mine is UNSET and theirs is UNSET:
        return
    if mine is UNSET:
        fates.defaulted("messages", done)
    elif theirs is not UNSET:
        if len(mine) != len(theirs) or not all(map(is_, mine, theirs)):
            fates.changed("messages", done)
    elif not mine:
        fates.dropped("messages", "there are none")
    elif _messages_from_turns in fates.entries:
        # The record had no messages, and has none when the row is read.
        fates.entries.remove(_messages_from_turns)
    else:
        fates.merged("messages", "the prompt")
