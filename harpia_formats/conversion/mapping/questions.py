"""The identity of questions, which are the unit of intervals and of comparisons.

A question is the id of a record together with its input (prompt or messages) and its
references. Records with the same ones hold answers to one question.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from msgspec import UNSET

from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Record

#: Bytes of a digest.
WIDTH = 16
#: The digest of a part that a record does not have.
NOTHING = bytes(WIDTH)
_numbered_id = re.compile(r"(?s)(.*)#([1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Question:
    """The digests of the parts of a question, `NOTHING` for each that is missing."""

    id: bytes
    input: bytes
    references: bytes

    @property
    def key(self) -> bytes:
        """All digests in one."""
        return self.id + self.input + self.references


def question_of(record: Record) -> Question:
    """Return the question of a record; an id of digits equals the same number."""
    text = prompt_text(record)
    references = record.references or ()
    return Question(
        NOTHING if record.id is UNSET else digest_of(question_id(record.id)),
        digest_of(text) if text else NOTHING,
        digest_of(*references) if references else NOTHING,
    )


def question_key(record: Record, record_number: int) -> bytes:
    """Return the digest of the question of a record.

    A record with neither an id nor an input is a question of its own, by its number.
    """
    text = prompt_text(record)
    if record.id is not UNSET:
        return digest_of("id", question_id(record.id), text, *(record.references or ()))
    if text:
        return digest_of("input", text, *(record.references or ()))
    return digest_of("number", str(record_number))


def question_id(id_: int | str) -> str:
    """Return the id of a question: that of its record before its answers were parted.

    A record that became several rows has `#` and a number behind its id in each.
    """
    return base_id(id_) or str(id_)


def base_id(id_: object) -> str | None:
    """Return `id_` without its `#` and number; None if it does not end so.

    A record that becomes several rows gets `#` and a number behind its id in each of
    them. An id may also end so by chance: rows belong together only if they have the
    same prompt, too.
    """
    match = _numbered_id.fullmatch(id_) if isinstance(id_, str) else None
    return match[1] if match else None


def prompt_text(record: Record) -> str:
    """Return the prompt of a record as text: its prompt, or its messages as JSON."""
    if record.prompt is not UNSET:
        return record.prompt
    messages = record.messages or []
    questions = [message for message in messages if message.get("role") == "user"]
    if len(questions) == 1 and isinstance(questions[0].get("content"), str):
        return str(questions[0]["content"])
    if not messages:
        return ""
    return encode(
        [(message.get("role"), message.get("content")) for message in messages]
    ).decode()


def digest_of(*parts: str) -> bytes:
    """Return a digest of some texts, which differs for other texts or another order."""
    # With its length in front of each part, no two lists of parts are the same text.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    key = text.encode("utf-8", "surrogatepass")
    digest: bytes = _hash()(key, digest_size=WIDTH).digest()
    return digest


@cache
def _hash() -> Any:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for --help

    return blake2b
