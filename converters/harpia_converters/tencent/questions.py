"""The messages of a row as it needs them, and its expected answer."""

from msgspec import UNSET

from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Record

#: The keys of a message.
MESSAGE_KEYS = ("role", "content")
#: The change made to a message without content.
EMPTIED = "empty text for null"


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
