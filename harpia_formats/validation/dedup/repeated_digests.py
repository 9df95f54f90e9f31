"""Digests that occur more than once, and which of them were met in a second pass."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.dedup.pair_digests import PairDigests

#: Digests that are looked for in one pass, a bit over 8 bytes each.
HELD = 4 * 1024 * 1024
_PARTITIONS = 256


class Occurrence(Enum):
    """Which occurrence of a digest was met."""

    #: The digest is not repeated.
    ONLY = auto()
    #: The first one of a repeated digest.
    FIRST = auto()
    #: A later one of a repeated digest.
    AGAIN = auto()


class RepeatedDigests:
    """Digests that occur more than once, sorted by their low byte."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(_PARTITIONS)]
        self._met = [bytearray() for _ in range(_PARTITIONS)]
        self._count = 0
        #: The value that was met first with each digest.
        self._values: dict[int, array[int]] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, partition: int, digests: Iterable[int]) -> None:
        """Add repeated `digests`, whose low byte is `partition`."""
        part = array("Q", sorted({*self._parts[partition], *digests}))
        self._count += len(part) - len(self._parts[partition])
        self._parts[partition] = part
        self._met[partition] = bytearray(len(part))

    def record(self, digest: int) -> Occurrence:
        """Record that `digest` was met; return which occurrence of it this is."""
        part = self._parts[digest & 0xFF]
        place = bisect_left(part, digest)
        if place == len(part) or part[place] != digest:
            return Occurrence.ONLY
        met = self._met[digest & 0xFF]
        if met[place]:
            return Occurrence.AGAIN
        met[place] = 1
        return Occurrence.FIRST

    def agrees(self, digest: int, value: int) -> bool:
        """Tell whether `value` is the one that was met first with `digest`.

        It is so too of a digest that is not among those that are repeated.
        """
        partition = digest & 0xFF
        part = self._parts[partition]
        if digest not in self:
            return True
        place = bisect_left(part, digest)
        values = self._values.get(partition)
        if values is None:
            values = self._values[partition] = array("Q", bytes(8 * len(part)))
        if self.record(digest) is Occurrence.FIRST:
            values[place] = value
        return values[place] == value

    def __contains__(self, digest: int) -> bool:
        part = self._parts[digest & 0xFF]
        place = bisect_left(part, digest)
        return place < len(part) and part[place] == digest


def repeated_digest_batches(
    digests: Digests | PairDigests, held: int = HELD
) -> Iterator[RepeatedDigests]:
    """Yield the repeated ones of `digests` in batches of about `held`, one per pass.

    Raises `SourceError` if a temporary file fails.
    """
    batch = None
    for partition, repeated in digests.repeated_by_partition():
        if batch is None:
            batch = RepeatedDigests()
        batch.add(partition, repeated)
        if len(batch) >= held:
            yield batch
            batch = None
    if batch is not None:
        yield batch
