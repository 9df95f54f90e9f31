"""Keep any number of digests in bounded memory, parted by their bytes."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from harpia_formats.files.io.spill import FixedRecords

#: Digests read from a partition at a time.
_PIECE = 16 * 1024
#: Bytes of a digest.
_WIDTH = 8
_PARTITIONS = 256
#: Digests that are not parted.
_FEW = 4096
#: Bits of a digest's second byte, by which a partition is parted further.
_BITS = 8


@dataclass(frozen=True, slots=True)
class Share:
    """The digests of a partition whose second byte ends in these bits of `value`."""

    #: The low byte of the digests.
    partition: int
    bits: int = 0
    value: int = 0

    def halves(self) -> tuple["Share", "Share"]:
        """Return two shares that hold one half of the digests each."""
        bits = self.bits + 1
        one = self.value | 1 << self.bits
        return replace(self, bits=bits), replace(self, bits=bits, value=one)

    def table(self) -> bytes:
        """Return for every value of the second byte whether such digests are here."""
        mask = (1 << self.bits) - 1
        return bytes(byte & mask == self.value for byte in range(256))


class Partitions:
    """Digests by their low byte, in memory, and beyond `held` of them in a file."""

    __slots__ = ("_appends", "_few", "_held", "_parts")

    def __init__(self, held: int) -> None:
        self._held = held
        #: The first digests, not parted yet: most files are small and many.
        self._few: array[int] = array("Q")
        #: None until there are more.
        self._parts: FixedRecords | None = None
        self._appends: list[Callable[[int], None]] = []

    def add(self, digests: Iterable[int], count: int) -> None:
        """Add `digests`, which are `count` many.

        Raises `SourceError` if the temporary file cannot be written.
        """
        if self._parts is None and len(self._few) + count < min(_FEW, self._held):
            self._few.extend(digests)
            return
        self._part(self._parted(), digests, count)

    def _part(self, parts: FixedRecords, digests: Iterable[int], count: int) -> None:
        """Put digests into their partitions."""
        appends = self._appends
        for digest in digests:
            appends[digest & 0xFF](digest)
        parts.added(count)

    def _parted(self) -> FixedRecords:
        """Return the partitions; the first digests are put into them."""
        if self._parts is None:
            self._parts = FixedRecords("Q", self._held, _PARTITIONS)
            self._appends = [part.append for part in self._parts.held]
            few, self._few = self._few, array("Q")
            self._part(self._parts, few, len(few))
        return self._parts

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not (self._few or self._parts is not None)

    @property
    def are_distinct(self) -> bool:
        """Whether the digests are certainly distinct: few were added."""
        return self._parts is None and len(set(self._few)) == len(self._few)

    def settle(self) -> None:
        """Free the memory of the digests if some are in the file already."""
        if self._parts is not None:
            self._parts.settle()

    def shares(self, whole: int) -> Iterator[tuple[Share, set[int], int]]:
        """Yield shares that hold all digests, with the distinct ones and the count.

        A share has at most some more than `whole` distinct digests, unless so many
        agree in two bytes. Raises `SourceError` if the temporary file fails.
        """
        self.settle()
        for partition in range(_PARTITIONS):
            if self.count_of(partition):
                yield from self._split(Share(partition), whole)
            else:
                yield Share(partition), set(), 0

    def _split(self, share: Share, whole: int) -> Iterator[tuple[Share, set[int], int]]:
        distinct: set[int] = set()
        count = 0
        for piece in self.pieces(share):
            distinct.update(piece)
            count += len(piece)
            if len(distinct) > whole and share.bits < _BITS:
                break
        else:
            yield share, distinct, count
            return
        del distinct  # before the halves have theirs
        for half in share.halves():
            yield from self._split(half, whole)

    def pieces(self, share: Share) -> Iterator[Sequence[int]]:
        """Yield the digests of a share, in the order in which they were added."""
        table = share.table() if share.bits else b""
        for data in self._parted().blocks(share.partition, _PIECE * _WIDTH):
            piece = array("Q", data)
            if share.bits:
                yield list(compress(piece, data[1::_WIDTH].translate(table)))
            else:
                yield piece

    def count_of(self, partition: int) -> int:
        """Return how many digests have the low byte `partition`."""
        return self._parted().count_of(partition)

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._parts is not None:
            self._parts.close()
