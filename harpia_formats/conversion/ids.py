"""Give records new ids: their numbers, or hashes of what they ask."""

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.question import question_hash, question_of
from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Record

_id_is_hash = "is the hash of what the record asks"


def with_number_as_id(record: Record, number: int, fates: FieldFates) -> Record:
    """Return `record` with its number as id, which is added to the fates."""
    return _with_id(record, str(number), ID_IS_NUMBER, fates)


def with_hash_as_id(record: Record, fates: FieldFates) -> Record:
    """Return `record` with the hash of what it asks as id, added to the fates.

    Raises `Unconvertible` if the record asks nothing.
    """
    question = question_of(record)
    if not question:
        reason = "the record asks nothing, so that its id cannot be a hash of that"
        raise Unconvertible("id", reason, "take --ids number")
    return _with_id(record, question_hash(question), _id_is_hash, fates)


def _with_id(record: Record, id_: str, how: str, fates: FieldFates) -> Record:
    if record.id is UNSET:
        fates.defaulted("id", how)
    elif record.id != id_:
        fates.changed("id", how)
    return replace(record, id=id_)
