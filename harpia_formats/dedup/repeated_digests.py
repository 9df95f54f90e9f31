"""Which digests a second look waits for, and which of them it has met already."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from harpia_formats.dedup.digests import Digests

#: Digests that are waited for in one look, 8 bytes and a bit each.
HELD = 4 * 1024 * 1024
_PARTITIONS = 256


class Occurrence(Enum):
    """What it means to meet a digest."""

    #: It is there only once.
    UNEXPECTED = auto()
    FIRST = auto()
    AGAIN = auto()


class RepeatedDigests:
    """Digests that are there more than once, sorted by their low byte."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(_PARTITIONS)]
        self._met = [bytearray() for _ in range(_PARTITIONS)]
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, partition: int, digests: Iterable[int]) -> None:
        """Wait for `digests` too, whose low byte is `partition`."""
        part = array("Q", sorted({*self._parts[partition], *digests}))
        self._count += len(part) - len(self._parts[partition])
        self._parts[partition] = part
        self._met[partition] = bytearray(len(part))

    def record(self, digest: int) -> Occurrence:
        """Take note of a digest; tell whether it was waited for, and met before."""
        part = self._parts[digest & 0xFF]
        place = bisect_left(part, digest)
        if place == len(part) or part[place] != digest:
            return Occurrence.UNEXPECTED
        met = self._met[digest & 0xFF]
        if met[place]:
            return Occurrence.AGAIN
        met[place] = 1
        return Occurrence.FIRST


def repeated_digest_batches(
    digests: Digests, held: int = HELD
) -> Iterator[RepeatedDigests]:
    """Yield what is repeated among `digests`, for one look after the other."""
    awaited = RepeatedDigests()
    for partition, repeated in digests.repeated_ones():
        awaited.add(partition, repeated)
        if len(awaited) >= held:
            yield awaited
            awaited = RepeatedDigests()
    if len(awaited):
        yield awaited
