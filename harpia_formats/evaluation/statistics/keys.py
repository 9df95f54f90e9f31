"""What is compared to find repeated prompts, answers and ids: digests with places."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.evaluation.statistics.words import AT_ONCE
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record
from harpia_formats.validation.dedup.digests import digest_of, digests_of
from harpia_formats.validation.dedup.key_text import key_text

#: What is compared, and how the results call it.
KINDS = ("prompts", "answers", "ids")
_MASK = 2**64 - 1
#: An odd number, so that multiplying by it keeps digests apart.
_FACTOR = 0x9E3779B97F4A7C15


def _digests() -> "array[int]":
    return array("Q")


@dataclass(slots=True)
class Keys:
    """The digests of one kind, each with the number of its record."""

    digests: "array[int]" = field(default_factory=_digests)
    records: "array[int]" = field(default_factory=_digests)

    def add(self, digests: Sequence[int], records: Sequence[int]) -> None:
        """Add digests of records with these numbers."""
        self.digests.extend(digests)
        self.records.extend(records)


def combined(one: int, other: int) -> int:
    """Return the digest of a pair of digests."""
    return (one * _FACTOR + other) & _MASK


def _digests_of(texts: Sequence[str]) -> Sequence[int]:
    """Return the digests of texts; no copies of several long ones are held."""
    if sum(map(len, texts)) <= AT_ONCE:
        return digests_of(texts)
    return [*map(digest_of, texts)]


def prompt_of(record: Record) -> str:
    """Return the prompt of a record: its text, or else its messages as JSON, or ""."""
    if record.prompt is not UNSET:
        return record.prompt
    return encode(record.messages).decode() if record.messages else ""


def add_keys(
    found: dict[str, Keys],
    records: Sequence[Record],
    numbers: Sequence[int],
    outputs: Sequence[Output],
    owners: Sequence[int],
) -> None:
    """Add the keys of some records with their numbers.

    `owners` has for each of the `outputs` the index of its record. A record without a
    prompt, an answer without a text or a prompt, and a record without an id have none.
    """
    texts = [prompt_of(record) for record in records]
    of_prompts = _digests_of(texts)
    asked = [*map(bool, texts)]
    if all(asked):
        found["prompts"].add(of_prompts, numbers)
    else:
        kept = [index for index, is_there in enumerate(asked) if is_there]
        found["prompts"].add(
            [of_prompts[index] for index in kept], [numbers[index] for index in kept]
        )
    ids = [index for index, record in enumerate(records) if record.id is not UNSET]
    found["ids"].add(
        digests_of([key_text((records[index].id,)) for index in ids]),
        [numbers[index] for index in ids],
    )
    answers = [
        (owner, output.text)
        for owner, output in zip(owners, outputs, strict=True)
        if output.text and asked[owner]
    ]
    of_answers = _digests_of([text for _, text in answers])
    found["answers"].add(
        [
            (of_prompts[owner] * _FACTOR + digest) & _MASK
            for (owner, _), digest in zip(answers, of_answers, strict=True)
        ],
        [numbers[owner] for owner, _ in answers],
    )
