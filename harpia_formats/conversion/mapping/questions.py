"""What records ask: the fields of their input, the identity of their questions."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record

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


def question_text(record: Record) -> str:
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
    import hashlib  # noqa: PLC0415 - loads OpenSSL, which most conversions do not need

    return hashlib.sha256(question.encode()).hexdigest()[:HASH_DIGITS]


def differing_fields(one: Record, other: Record) -> list[str]:
    """Return the names of the fields of the input in which two records differ."""
    return [
        name for name in QUESTION_FIELDS if _text_of(one, name) != _text_of(other, name)
    ]


def _text_of(record: Record, name: str) -> bytes | None:
    value = getattr(record, name)
    return None if value is UNSET else encode(value)


#: Bytes of a digest.
WIDTH = 16
#: The digest of a part that a record does not have.
NOTHING = bytes(WIDTH)
_numbered_id = re.compile(r"(?s)(.*)#([1-9]\d*)")


class Question(Struct, frozen=True):
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
    return given_question(record) or numbered_question(record_number)


def given_question(record: Record) -> bytes:
    """Return the digest of what a record asks, b"" without an id and an input."""
    text = prompt_text(record)
    if record.id is not UNSET:
        return digest_of("id", question_id(record.id), text, *(record.references or ()))
    return digest_of("input", text, *(record.references or ())) if text else b""


def numbered_question(record_number: int) -> bytes:
    """Return the digest of a question that is known only by its record's number."""
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


def merged_answers(rows: Sequence[Sequence[Output]]) -> list[Output]:
    """Return the answers of some rows, an answer of several of them only once.

    It has the scores and attributions of all. Answers of one row stay apart: they were
    given one after the other.
    """
    found: list[Output] = []
    keys: list[bytes] = []
    for outputs in rows:
        free = list(range(len(found)))
        for output in outputs:
            key = encode(replace(output, scores=UNSET, attribution=UNSET))
            same = next((at for at in free if keys[at] == key), None)
            if same is None:
                found.append(output)
                keys.append(key)
                continue
            free.remove(same)
            before = found[same]
            found[same] = replace(
                before,
                scores=_joined(before.scores, output.scores),
                attribution=_joined(before.attribution, output.attribution),
            )
    return found


def _joined(first: Any, second: Any) -> Any:
    """Return two lists as one, either of which may be absent."""
    if first is UNSET or second is UNSET:
        return second if first is UNSET else first
    return [*first, *(item for item in second if item not in first)]
