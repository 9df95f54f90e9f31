"""Find which of any number of keys have several values, in bounded memory.

Keys and values are represented by digests of 8 bytes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.validation.dedup.digest_partitions import Partitions, Share
from harpia_formats.validation.dedup.digests import WHOLE

#: Digests held in memory, 8 bytes each, before they are written to a file.
HELD = 256 * 1024

#: Values of the second byte of a digest, by which a partition is parted further.
_MOST_PARTS = 256


class _PairPartitions(Partitions):
    """Pairs of digests by the low byte of the first one, one after the other."""

    __slots__ = ()

    def add(self, digests: Collection[int], count: int) -> None:  # type: ignore[override]  # pairs have a length
        """Add `count` digests; raises `SourceError` if a temporary file fails."""
        if self._parts is None and len(self._few) + count < self._held:
            self._few.extend(digests)
            return
        self._part(self._parted(), digests, count)

    @property
    def few(self) -> Sequence[int]:
        """All digests if they are not parted, else none."""
        return self._few if self._parts is None else ()

    def _part(self, parts: FixedRecords, digests: Iterable[int], count: int) -> None:
        appends = self._appends
        pairs = iter(digests)
        for key, value in zip(pairs, pairs, strict=True):
            append = appends[key & 0xFF]
            append(key)
            append(value)
        parts.added(count)


class PairDigests:
    """Digests of keys and their values; to be closed by `close`.

    Beyond `held` digests they are in a temporary file without a name; of about `whole`
    keys the values are compared at once.
    """

    __slots__ = ("_counts", "_partitions", "_whole")

    def __init__(self, held: int = HELD, whole: int = WHOLE) -> None:
        self._partitions = _PairPartitions(held)
        self._whole = whole

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._partitions.close()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return self._partitions.is_empty

    def add_digests(self, digests: Collection[int]) -> None:
        """Add the digests of keys and values by turns.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self._partitions.add(digests, len(digests))

    def repeated_by_partition(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the keys with several values, some at a time, all with one low byte.

        Yields that byte and the digests of the keys. Raises `SourceError` if the
        temporary file fails.
        """
        few = self._partitions.few
        if len(set(few[::2])) == len(set(zip(few[::2], few[1::2], strict=True))) > 0:
            return
        self._partitions.settle()
        for partition in range(_MOST_PARTS):
            count = self._partitions.count_of(partition) // 2
            parts = 1
            while parts < _MOST_PARTS and count > parts * self._whole:
                parts *= 2
            for part in range(parts):
                found = self._several(Share(partition), parts - 1, part)
                if found:
                    yield partition, list(found)

    def shares(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield keys and their values, in the order in which they were added.

        All of one key come together, with about `whole` others at most. Raises
        `SourceError` if the temporary file fails.
        """
        few = self._partitions.few
        if few:
            yield list(few[::2]), list(few[1::2])
            return
        self._partitions.settle()
        for partition in range(_MOST_PARTS):
            count = self._partitions.count_of(partition) // 2
            parts = 1
            while parts < _MOST_PARTS and count > parts * self._whole:
                parts *= 2
            for part in range(parts):
                yield self._in_part(Share(partition), parts - 1, part)

    def _in_part(
        self, share: Share, mask: int, part: int
    ) -> tuple[list[int], list[int]]:
        """Return the keys whose second byte ends in `part`, and their values."""
        keys: list[int] = []
        values: list[int] = []
        for piece in self._partitions.pieces(share):
            if not mask:
                keys += piece[::2]
                values += piece[1::2]
                continue
            pairs = iter(piece)
            for key, value in zip(pairs, pairs, strict=True):
                if key >> 8 & mask == part:
                    keys.append(key)
                    values.append(value)
        return keys, values

    def _several(self, share: Share, mask: int, part: int) -> set[int]:
        """Return the keys of a partition that have several values.

        They are those whose second byte ends in the bits `part` of `mask`.
        """
        first: dict[int, int] = {}
        found: set[int] = set()
        for piece in self._partitions.pieces(share):
            pairs = iter(piece)
            for key, value in zip(pairs, pairs, strict=True):
                if key >> 8 & mask == part and first.setdefault(key, value) != value:
                    found.add(key)
        return found
