"""What a record loses where a row holds its question as messages."""

from collections.abc import Sequence
from operator import is_
from typing import Any

from msgspec import UNSET

from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates, Unconvertible
from harpia_formats.model.record import Record

#: The fate that `fit_chats` records when it makes messages of an output's turns.
_messages_from_turns = FieldFate(Fate.DEFAULTED, "messages", "of the turns")
#: The change made to a chat that does not fit a row.
CUT = "cut to one prompt"
_roles = {"prompt": "user", "system": "system"}


def no_question() -> Unconvertible:
    """Return the error for a record that has neither a prompt nor messages."""
    reason = "the record has neither a prompt nor messages"
    return Unconvertible("prompt", reason, "give it with --set prompt=VALUE")


def is_from_turns(fates: FieldFates) -> bool:
    """Tell whether `fit_chats` made the messages of the turns of an output."""
    if not fates.entries:
        return False
    changed = (entry.path == "outputs.turns" for entry in fates.entries)
    return _messages_from_turns in fates.entries or any(changed)


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
        message.get("role") == _roles[name] and message.get("content") == mine
        for message in back.get("messages", ())
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
    same = mine is theirs or all(map(is_, mine, theirs))
    return same or encode(mine) == encode(theirs)
