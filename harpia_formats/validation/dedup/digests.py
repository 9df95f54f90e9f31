"""Find which of any number of texts occur more than once, in bounded memory.

A text is represented by a digest of 8 bytes. Equal texts have equal digests; that two
unequal texts share one is rare but possible, so a finding is reported only after the
texts themselves were compared.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Self

import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import Struct
from msgspec.structs import replace

from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.model.column import JoinedTexts, as_column

#: Digests read from a partition at a time.
_PIECE = 16 * 1024
#: Bytes of a digest.
_WIDTH = 8
_PARTITIONS = 256
#: Digests that are not parted.
_FEW = 4096
#: Bits of a digest's second byte, by which a partition is parted further.
_BITS = 8


class Share(Struct, frozen=True):
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

    def flush(self) -> None:
        """Free the memory of the digests if some are in the file already."""
        if self._parts is not None:
            self._parts.flush()

    def shares(self, whole: int) -> Iterator[tuple[Share, set[int], int]]:
        """Yield shares that hold all digests, with the distinct ones and the count.

        A share has at most some more than `whole` distinct digests, unless so many
        agree in two bytes. Raises `SourceError` if the temporary file fails.
        """
        self.flush()
        for partition in range(_PARTITIONS):
            if count := self.count_of(partition):
                # So many must mostly be parted anyway, which need not be found out.
                bits = min((count // (whole + 1)).bit_length(), _BITS)
                for value in range(1 << bits):
                    yield from self.split(Share(partition, bits, value), whole)
            else:
                yield Share(partition), set(), 0

    def split(self, share: Share, whole: int) -> Iterator[tuple[Share, set[int], int]]:
        """Yield the shares that a share is made of, as `shares` does."""
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
            yield from self.split(half, whole)

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


#: Digests held in memory, 8 bytes each, before they are written to a file.
HELD = 128 * 1024
#: Distinct digests that are compared at once, at most some 100 bytes each.
WHOLE = 16 * 1024
#: Digests that a result lists; further ones are counted only.
LIMIT = 100_000

_hash: Callable[[str | bytes], int] = stringzilla.hash


class RepeatedTexts(Struct, frozen=True):
    """The texts that were added more than once, by their digests."""

    #: At most as many as the limit allows.
    digests: frozenset[int]
    #: How often any text was added again, whether or not it is listed.
    surplus: int


def digest_of(text: str) -> int:
    """Return the digest of `text`, from 0 to 2^64 - 1, the same in every process."""
    return _hash(text.encode("utf-8", "surrogatepass"))


def digests_of(texts: Collection[str]) -> "array[int]":
    """Return the digests of some texts, in their order."""
    return array("Q", list(_digests(texts)))  # of a list in two thirds of the time


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

    def missing_by_partition(self, other: "Digests") -> Iterator[tuple[int, list[int]]]:
        """Yield digests that `other` lacks, some at a time, all with one low byte.

        Yields that byte and the digests, each once. Raises `SourceError` if a temporary
        file fails.
        """
        mine = self.partitions
        mine.flush()
        for share, known, _ in other.partitions.shares(self._whole):
            for _, distinct, _ in mine.split(share, self._whole):
                if missing := distinct - known:
                    yield share.partition, list(missing)


def _digests(texts: Collection[str]) -> Iterator[int]:
    column = texts if isinstance(texts, JoinedTexts) else as_column(texts)
    if column.is_ascii:
        return map(_hash, column)
    try:
        return map(_hash, column.encoded)
    except UnicodeEncodeError:  # a lone surrogate, on which stringzilla crashes
        return map(digest_of, column)


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
