"""Find which of any number of texts occur more than once, in bounded memory.

A text is represented by a digest of 8 bytes. Equal texts have equal digests; that two
unequal texts share one is rare but possible, so a finding is reported only after the
texts themselves were compared.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import filterfalse
from typing import Self

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.validation.dedup.digest_partitions import Partitions

#: Digests held in memory, 8 bytes each, before they are written to a file.
HELD = 128 * 1024
#: Distinct digests that are compared at once, at most some 70 bytes each.
WHOLE = 64 * 1024
#: Digests that a result lists; further ones are counted only.
LIMIT = 100_000

_hash: Callable[[str | bytes], int] = stringzilla.hash


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """The texts that were added more than once, by their digests."""

    #: At most as many as the limit allows.
    digests: frozenset[int]
    #: How often any text was added again, whether or not it is listed.
    surplus: int


@dataclass(frozen=True, slots=True)
class MissingTexts:
    """The texts that were added to one and not to another, by their digests."""

    #: At most as many as the limit allows.
    digests: frozenset[int]
    #: How often any of them was added, whether or not it is listed.
    occurrences: int


def digest_of(text: str) -> int:
    """Return the digest of `text`, from 0 to 2^64 - 1, the same in every process."""
    return _hash(text.encode("utf-8", "surrogatepass"))


def digests_of(texts: Collection[str]) -> "array[int]":
    """Return the digests of some texts, in their order."""
    return array("Q", _digests(texts))


class Digests:
    """The digests of any number of texts; to be closed by `with` or `close`.

    Beyond `held` digests they are in a temporary file without a name; at most `whole`
    distinct ones are compared at once, and a result lists at most `limit`.
    """

    __slots__ = ("_limit", "_whole", "partitions")

    def __init__(
        self, held: int = HELD, whole: int = WHOLE, limit: int = LIMIT
    ) -> None:
        self.partitions = Partitions(held)
        self._whole = whole
        self._limit = limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self.partitions.close()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return self.partitions.is_empty

    def add(self, texts: Collection[str]) -> None:
        """Add some texts, for speed a few dozen or more at once.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self.partitions.add(_digests(texts), len(texts))

    def add_digests(self, digests: Collection[int]) -> None:
        """Add texts by their digests.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self.partitions.add(digests, len(digests))

    def repeated(self) -> RepeatedTexts:
        """Return the texts that were added more than once.

        Raises `SourceError` if the temporary file fails.
        """
        found: set[int] = set()
        surplus = 0
        for share, distinct, count in self.partitions.shares(self._whole):
            again = count - len(distinct)
            surplus += again
            if again and len(found) < self._limit:
                repeated = _repeated(distinct, self.partitions.pieces(share))
                _add_up_to(found, repeated, self._limit)
        return RepeatedTexts(frozenset(found), surplus)

    def repeated_by_partition(self) -> Iterator[tuple[int, list[int]]]:
        """Yield repeated digests, some at a time, each time those of one low byte.

        Yields that byte and the digests. Raises `SourceError` if the temporary file
        fails.
        """
        if self.partitions.are_distinct:
            return
        for share, distinct, count in self.partitions.shares(self._whole):
            if count > len(distinct):
                pieces = self.partitions.pieces(share)
                yield share.partition, list(_repeated(distinct, pieces))

    def missing_from(self, other: "Digests") -> MissingTexts:
        """Return the texts that were added here and not to `other`.

        Raises `SourceError` if a temporary file fails.
        """
        mine = self.partitions
        mine.settle()
        found: set[int] = set()
        occurrences = 0
        for share, known, _ in other.partitions.shares(self._whole):
            for piece in mine.pieces(share):
                missing = list(filterfalse(known.__contains__, piece))
                occurrences += len(missing)
                _add_up_to(found, missing, self._limit)
        return MissingTexts(frozenset(found), occurrences)


def _digests(texts: Collection[str]) -> Iterator[int]:
    if "".join(texts).isascii():
        return map(_hash, texts)
    try:
        data = [text.encode() for text in texts]
    except UnicodeEncodeError:  # a lone surrogate, on which stringzilla crashes
        return map(digest_of, texts)
    return map(_hash, data)


def _repeated(unseen: set[int], pieces: Iterable[Iterable[int]]) -> Iterator[int]:
    """Yield every digest that occurs again; those met are removed from `unseen`."""
    for piece in pieces:
        for digest in piece:
            if digest in unseen:
                unseen.remove(digest)
            else:
                yield digest


def _add_up_to(found: set[int], digests: Iterable[int], limit: int) -> None:
    """Add `digests` to `found` until that has `limit` of them."""
    for digest in digests:
        if len(found) >= limit:
            return
        found.add(digest)
