"""The question and the expected answer of a row, and what a record loses by them."""

from collections.abc import Sequence
from operator import is_
from typing import Any

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import without
from harpia_formats.comparison.differences import same
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates, Unconvertible
from harpia_formats.model.record import Record

#: The fate that the hub records when it makes messages of an output's turns.
_messages_from_turns = FieldFate(Fate.DEFAULTED, "messages", "of the turns")
#: The keys of a message.
MESSAGE_KEYS = ("role", "content")
#: The change made to a message without content.
EMPTIED = "empty text for null"
#: The change made to a chat that does not fit a row.
CUT = "cut to one prompt"
_roles = {"prompt": "user", "system": "system"}


def no_question() -> Unconvertible:
    """Return the error for a record that has neither a prompt nor messages."""
    reason = "the record has neither a prompt nor messages"
    return Unconvertible("prompt", reason, "give it with --set prompt=VALUE")


def is_from_turns(fates: FieldFates) -> bool:
    """Tell whether the hub made the messages of the turns of an output."""
    if not fates.entries:
        return False
    changed = (entry.path == "outputs.turns" for entry in fates.entries)
    return _messages_from_turns in fates.entries or any(changed)


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
    return {"role": role, "content": "", **without(message, MESSAGE_KEYS)}


def record_question_fates(
    record: Record, back: Row, done: Sequence[str], fates: FieldFates
) -> None:
    """Record in `fates` which fields of `record` change when the row is read back.

    `back` has the fields that the row is read as, and `done` the changes made to the
    messages, in a few words each.
    """
    for name in _roles:
        _record_text_fate(name, record, back, fates)
    _record_messages_fate(record, back, done, fates)


def _record_text_fate(name: str, record: Record, back: Row, fates: FieldFates) -> None:
    mine, theirs = getattr(record, name), back.get(name, UNSET)
    if mine == theirs:
        return
    if mine is UNSET:
        fates.defaulted(name, "of the messages")
    elif theirs is not UNSET:
        fates.changed(name, "that of the messages")
    elif any(
        message["role"] == _roles[name] and message["content"] == mine
        for message in back["messages"]
    ):
        fates.merged(name, f"a message of the {_roles[name]}")
    else:
        fates.dropped(name, "the messages are used instead")


def _record_messages_fate(
    record: Record, back: Row, done: Sequence[str], fates: FieldFates
) -> None:
    mine, theirs = record.messages, back.get("messages", UNSET)
    if _is_same_chat(mine, theirs):
        return
    if theirs is not UNSET:
        fates.changed("messages", "; ".join(done))
    elif not mine:
        fates.dropped("messages", "there are none")
    elif _messages_from_turns in fates.entries:
        # The record had no messages, and the row has none.
        fates.entries.remove(_messages_from_turns)
    elif CUT in done:
        fates.changed("messages", CUT)
    else:
        fates.merged("messages", "; ".join(["the prompt", *done]))


def _is_same_chat(mine: Any, theirs: Any) -> bool:
    """Tell whether two lists of messages, or none, have the same JSON text."""
    if mine != theirs:
        return False
    # Mostly the messages are themselves; else the order of their keys counts as well.
    return mine is theirs or all(map(is_, mine, theirs)) or same(mine, theirs)


def expected_answer(record: Record, key: str, fates: FieldFates) -> str:
    """Return the expected answer of a record: its first reference, or else its gt.

    Raises `Unconvertible` if it has neither; `key` is the row's key in the message.
    """
    if record.references:
        if record.gt is not UNSET:
            fates.dropped("gt", "the reference is used instead")
        return record.references[0]
    if record.gt is UNSET:
        reason = f"the record has nothing for `{key}`"
        help_ = f"give it with --set {key}=VALUE"
        raise Unconvertible("references", reason, help_)
    fates.merged("gt", "the expected answer")
    if record.references is UNSET:
        fates.defaulted("references", "of gt")
    else:
        fates.changed("references", "gt, for an empty list")
    return record.gt
