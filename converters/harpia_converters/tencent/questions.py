"""What a row asks and expects, beside what the record says that it was made from."""

from collections.abc import Sequence

from msgspec import UNSET

from harpia_converters.tencent.extra_fields import without
from harpia_formats.comparison.differences import same
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates, Unconvertible
from harpia_formats.model.record import Record

#: What the hub says where it takes the turns of an answer for the messages.
_of_the_turns = FieldFate(Fate.DEFAULTED, "messages", "of the turns")
#: What a message has.
MESSAGE_KEYS = ("role", "content")
#: What is done to a message that says nothing.
EMPTIED = "empty text for null"
#: What is done to a chat that a row has no room for.
CUT = "cut to one prompt"
_roles = {"prompt": "user", "system": "system"}


def nothing_asked() -> Unconvertible:
    """Return that a record has neither a prompt nor messages."""
    reason = "the record has neither a prompt nor messages"
    return Unconvertible("prompt", reason, "give it with --set prompt=VALUE")


def with_text(message: Row) -> Row:
    """Return `message` with a text as its content, empty if it has none.

    Raises `Unconvertible` where it is no message that Tencent would know.
    """
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        raise Unconvertible("messages", "a message does not say whose it is")
    if isinstance(content, str):
        return message
    if content is not None:
        raise Unconvertible("messages", "the content of a message is not text")
    return {"role": role, "content": "", **without(message, MESSAGE_KEYS)}


def note_asked(
    record: Record, back: Row, done: Sequence[str], fates: FieldFates
) -> None:
    """Note where the fields that a row will be read as are not those of `record`.

    `back` holds them, and `done` is what was done to the messages, in a few words.
    """
    for name in _roles:
        _note_text(name, record, back, fates)
    _note_messages(record, back, done, fates)


def _note_text(name: str, record: Record, back: Row, fates: FieldFates) -> None:
    mine, theirs = getattr(record, name), back.get(name, UNSET)
    if mine == theirs:
        return
    if mine is UNSET:
        fates.defaulted(name, "of the messages")
    elif theirs is not UNSET:
        fates.changed(name, "that of the messages")
    elif _is_said(mine, _roles[name], back["messages"]):
        fates.merged(name, f"a message of the {_roles[name]}")
    else:
        fates.dropped(name, "the messages are taken instead")


def _is_said(text: str, role: str, messages: list[Row]) -> bool:
    return any(
        message["role"] == role and message["content"] == text for message in messages
    )


def _note_messages(
    record: Record, back: Row, done: Sequence[str], fates: FieldFates
) -> None:
    mine, theirs = record.messages, back.get("messages", UNSET)
    if mine == theirs and same(mine, theirs):  # the order of keys counts as well
        return
    if theirs is not UNSET:
        fates.changed("messages", "; ".join(done))
    elif not mine:
        fates.dropped("messages", "there are none")
    elif _of_the_turns in fates.entries:
        # They were not there before, and are not now.
        fates.entries.remove(_of_the_turns)
    elif CUT in done:
        fates.changed("messages", CUT)
    else:
        fates.merged("messages", "; ".join(["the prompt", *done]))


def expected_answer(record: Record, key: str, fates: FieldFates) -> str:
    """Return the answer that a row expects: the reference, or else gt.

    Raises `Unconvertible` where there is neither.
    """
    if record.references:
        if record.gt is not UNSET:
            fates.dropped("gt", "the reference is taken instead")
        return record.references[0]
    if record.gt is UNSET:
        reason = f"the record has nothing for `{key}`"
        help_ = f"give it with --set {key}=VALUE"
        raise Unconvertible("references", reason, help_)
    fates.merged("gt", "the expected answer")
    if record.references is UNSET:
        fates.defaulted("references", "of gt")
    else:
        fates.changed("references", "gt, where there are none")
    return record.gt
