"""Repeated prompts, answers and ids among any number of records, in bounded memory."""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import compress
from typing import Self

from msgspec import UNSET

from harpia_formats.evaluation.statistics.running_counts import RecordPlace
from harpia_formats.evaluation.statistics.text_lengths import AT_ONCE
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Output, Record
from harpia_formats.validation.dedup.digests import digest_of, digests_of
from harpia_formats.validation.dedup.identity import key_text
from harpia_formats.validation.dedup.repeated_digests import PairDigests

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


#: Repeated values that are listed, and places that are told of each.
LISTED, PLACES = 5, 3
#: Bits of the number of a record in a place that is one number.
_RECORD_BITS = 40


@dataclass(frozen=True, slots=True)
class Repeated:
    """A value that several records have: how many, and the places of the first."""

    count: int
    places: tuple[RecordPlace, ...]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """How often the values of one kind are repeated."""

    #: How many values were compared.
    count: int = 0
    #: How many different ones there are.
    distinct: int = 0
    #: How many of those occur more than once.
    repeated: int = 0
    #: The most frequent of them.
    first: tuple[Repeated, ...] = ()

    @property
    def surplus(self) -> int:
        """How many records have a value that an earlier one has."""
        return self.count - self.distinct


@dataclass(slots=True)
class Duplicates:
    """Compares prompts, answers and ids of all files; for `with`.

    Beyond some hundred thousand values they are in a temporary file. Ids are compared
    within their file. Values are compared by digests of 64 bits, which differ for
    different values but in one of about 40 million data sets of a million records.
    """

    _kinds: dict[str, PairDigests] = field(
        default_factory=lambda: {kind: PairDigests() for kind in KINDS}
    )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pairs in self._kinds.values():
            pairs.close()

    def add(self, keys: dict[str, Keys], file: int, before: int = 0) -> None:
        """Add keys of records in the file with this number.

        `before` is added to the numbers of the records. Raises `SourceError` if a
        temporary file cannot be written.
        """
        start = (file << _RECORD_BITS) + before
        for kind, found in keys.items():
            if not found.digests:
                continue
            digests: Sequence[int] = found.digests
            if kind == "ids" and file:
                digests = array("Q", [combined(file, digest) for digest in digests])
            pairs = array("Q", bytes(16 * len(digests)))
            pairs[::2] = array("Q", digests)
            pairs[1::2] = array("Q", [start + record for record in found.records])
            self._kinds[kind].add_digests(pairs)

    def found(self) -> dict[str, Repetitions]:
        """Return what is repeated, by kind; raises `SourceError`."""
        return {kind: _repetitions(pairs) for kind, pairs in self._kinds.items()}


def _repetitions(pairs: PairDigests) -> Repetitions:
    count = distinct = repeated = 0
    listed: list[tuple[int, list[int]]] = []
    for keys, places in pairs.shares():
        different = len(set(keys))
        count += len(keys)
        distinct += different
        if different < len(keys):
            several = {key: n for key, n in Counter(keys).items() if n > 1}
            repeated += len(several)
            listed = nsmallest(LISTED, listed + _first_places(several, keys, places))
    return Repetitions(
        count,
        distinct,
        repeated,
        tuple(
            Repeated(-number, tuple(map(_place_of, places)))
            for number, places in listed
        ),
    )


def _first_places(
    several: dict[int, int], keys: list[int], places: list[int]
) -> list[tuple[int, list[int]]]:
    """Return minus the number of records of each key, and the first places of them."""
    most = sorted(several.values(), reverse=True)[:LISTED][-1]
    wanted = {key: n for key, n in several.items() if n >= most}
    found: dict[int, list[int]] = {key: [] for key in wanted}
    chosen = [*map(wanted.__contains__, keys)]
    for key, place in zip(
        compress(keys, chosen), compress(places, chosen), strict=True
    ):
        found[key].append(place)
    return [(-n, sorted(found[key])[:PLACES]) for key, n in wanted.items()]


def _place_of(number: int) -> RecordPlace:
    file, record = divmod(number, 1 << _RECORD_BITS)
    return RecordPlace(file, record)
