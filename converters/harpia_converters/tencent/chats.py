"""The list `messages` of a row, as what a record asks and the answer behind it."""

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import KEY, without
from harpia_converters.tencent.questions import (
    EMPTIED,
    MESSAGE_KEYS,
    note_asked,
    nothing_asked,
    with_text,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record

#: The fields that a chat of such roles is, where its messages have nothing else.
_plain = {("user",): ("prompt",), ("system", "user"): ("system", "prompt")}


def read_chat(messages: list[Row]) -> tuple[Row, Row]:
    """Return the fields that a chat is, and what else its last answer has."""
    if messages[-1]["role"] != "assistant":
        return _question(messages), {}
    *before, answer = messages
    fields = {**_question(before), "gt": answer["content"]}
    return fields, without(answer, MESSAGE_KEYS)


def _question(messages: list[Row]) -> Row:
    names = _plain.get(tuple(message["role"] for message in messages))
    if names is None or any(len(message) > len(MESSAGE_KEYS) for message in messages):
        return {"messages": messages}
    texts = (message["content"] for message in messages)
    return dict(zip(names, texts, strict=True))


def write_chat(record: Record, rest: Row, fates: FieldFates) -> list[Row]:
    """Return the chat for `record`; what it uses of `rest` is taken from there.

    Raises `Unconvertible` where nothing is asked.
    """
    chat, done = _asked(record)
    if record.gt is not UNSET:
        answer = {"role": "assistant", "content": record.gt, **_beside_answer(rest)}
        chat.append(answer)
    if not chat:
        raise nothing_asked()
    back, beside = read_chat(chat)
    if record.gt is UNSET and "gt" in back:
        done.append("the last as gt")
        fates.defaulted("gt", "the last message, of the assistant")
        if beside:
            fates.defaulted(f"extra.{KEY}.messages", "of the last message")
    note_asked(record, back, done, fates)
    return chat


def _asked(record: Record) -> tuple[list[Row], list[str]]:
    """Return the chat without its answer, and what was done to the messages."""
    start = _system_message(record)
    if not record.messages and record.prompt is not UNSET:
        return [*start, {"role": "user", "content": record.prompt}], []
    if record.messages is UNSET:
        raise nothing_asked()
    chat = [with_text(message) for message in record.messages]
    done = [EMPTIED] if chat != record.messages else []
    if not start or any(message["role"] == "system" for message in chat):
        return chat, done
    return [*start, *chat], [*done, "with the system message"]


def _system_message(record: Record) -> list[Row]:
    if record.system is UNSET:
        return []
    return [{"role": "system", "content": record.system}]


def _beside_answer(rest: Row) -> Row:
    """Take from `rest` what the last answer had beside its text."""
    found = rest.get("messages")
    if not isinstance(found, dict) or not found or found.keys() & set(MESSAGE_KEYS):
        return {}
    taken: Row = rest.pop("messages")
    return taken
