"""What a record asks: the fields of its input, compared and hashed."""

import hashlib

from msgspec import UNSET

from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Record

#: The fields of the input. Two records ask the same if they have the same values there,
#: or none; all other fields describe the sample or hold its answers.
QUESTION_FIELDS = (
    "prompt",
    "system",
    "messages",
    "references",
    "gt",
    "choices",
    "contexts",
)
#: Hexadecimal digits of the hash of a question.
HASH_DIGITS = 32


def question_of(record: Record) -> str:
    """Return the fields of the input as one text, "" if the record has none of them.

    The texts of two records are equal if and only if the records ask the same.
    """
    given = {
        name: value
        for name in QUESTION_FIELDS
        if (value := getattr(record, name)) is not UNSET
    }
    return encode(given).decode() if given else ""


def question_hash(question: str) -> str:
    """Return the first `HASH_DIGITS` digits of the SHA-256 of a question's text."""
    return hashlib.sha256(question.encode()).hexdigest()[:HASH_DIGITS]


def differing_fields(one: Record, other: Record) -> list[str]:
    """Return the names of the fields of the input in which two records differ."""
    return [
        name for name in QUESTION_FIELDS if _text_of(one, name) != _text_of(other, name)
    ]


def _text_of(record: Record, name: str) -> bytes | None:
    value = getattr(record, name)
    return None if value is UNSET else encode(value)
