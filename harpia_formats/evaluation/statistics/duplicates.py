"""Repeated prompts, answers and ids among any number of records, in bounded memory."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain, compress
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.model.exact_json import encode_sorted
from harpia_formats.model.record import Output, Record
from harpia_formats.validation.dedup.digests import digest_of
from harpia_formats.validation.dedup.identity import key_text
from harpia_formats.validation.dedup.repeated_digests import PairDigests

#: What is compared, and how the results call it.
KINDS = ("prompts", "answers", "ids")
_MASK = 2**64 - 1
#: An odd number, so that multiplying by it keeps digests apart.
_FACTOR = 0x9E3779B97F4A7C15


#: By kind, the digests of values and the numbers of their records by turns.
Keys = dict[str, "array[int]"]


def no_keys() -> Keys:
    """Return no keys of each kind."""
    return {kind: array("Q") for kind in KINDS}


def combined(one: int, other: int) -> int:
    """Return the digest of a pair of digests."""
    return (one * _FACTOR + other) & _MASK


def prompt_of(record: Record) -> str:
    """Return the prompt of a record: its text, or else its messages as JSON, or ""."""
    if record.prompt is not UNSET:
        return record.prompt
    return encode_sorted(record.messages).decode() if record.messages else ""


def add_keys(
    found: Keys,
    records: Sequence[Record],
    numbers: Sequence[int],
    outputs: Sequence[Output],
    owners: Sequence[int],
) -> None:
    """Add the keys of some records with their numbers.

    `owners` has for each of the `outputs` the index of its record. A record without a
    prompt, an answer without a text or a prompt, and a record without an id have none.
    """
    prompts = [prompt_of(record) for record in records]
    digests = [*map(digest_of, prompts)]
    pairs = {
        "prompts": [
            (digest, number)
            for prompt, digest, number in zip(prompts, digests, numbers, strict=True)
            if prompt
        ],
        "answers": [
            (combined(digests[owner], digest_of(output.text)), numbers[owner])
            for owner, output in zip(owners, outputs, strict=True)
            if output.text and prompts[owner]
        ],
        "ids": [
            (digest_of(key_text((record.id,))), number)
            for record, number in zip(records, numbers, strict=True)
            if record.id is not UNSET
        ],
    }
    for kind, of_kind in pairs.items():
        found[kind].extend(chain.from_iterable(of_kind))


#: The most repeated values that are listed, and the most places of each.
LISTED, PLACES = 5, 3
#: Bits of the number of a record in a place that is one number.
_RECORD_BITS = 40


@dataclass(slots=True)
class Duplicates:
    """Compares prompts, answers and ids of all files; a context manager.

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

    def add(self, keys: Keys, file: int, before: int = 0) -> None:
        """Add keys of records in the file with this number.

        `before` is added to the numbers of the records. Raises `SourceError` if a
        temporary file cannot be written.
        """
        start = (file << _RECORD_BITS) + before
        for kind, pairs in keys.items():
            digests, records = pairs[::2], pairs[1::2]
            if kind == "ids":
                digests = array("Q", [combined(file, digest) for digest in digests])
            pairs[::2] = digests
            pairs[1::2] = array("Q", [start + record for record in records])
            self._kinds[kind].add_digests(pairs)

    def found(self, files: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what is repeated in `files`, by kind; raises `SourceError`."""
        return {
            kind: repetitions(pairs.shares(), files)
            for kind, pairs in self._kinds.items()
        }


def repetitions(
    shares: Iterable[tuple[list[int], list[int]]], files: Sequence[str]
) -> dict[str, Any]:
    """Return how often values are repeated, and the places of the most frequent ones.

    Each of the `shares` has all digests of some values, and the place of each.
    """
    count = distinct = repeated = 0
    listed: list[tuple[int, list[int]]] = []
    for keys, places in shares:
        different = len(set(keys))
        count += len(keys)
        distinct += different
        if different < len(keys):
            several = {key: n for key, n in Counter(keys).items() if n > 1}
            repeated += len(several)
            listed = nsmallest(LISTED, listed + _first_places(several, keys, places))
    first = [
        {"count": -number, "places": [_place_of(place, files) for place in places]}
        for number, places in listed
    ]
    counts = {"count": count, "distinct": distinct, "repeated": repeated}
    return {**counts, "surplus": count - distinct, "first": first}


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


def _place_of(number: int, files: Sequence[str]) -> dict[str, Any]:
    """Return the file and the number of the record at a place that is one number."""
    file, record = divmod(number, 1 << _RECORD_BITS)
    return {"path": files[file], "record": record}
