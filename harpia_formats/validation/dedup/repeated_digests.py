"""Find digests and ids that occur more than once, and keys that have several values."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import starmap
from typing import Any

from msgspec import Struct

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.files.framing.columns import (
    DocumentFrames,
    NumberedRecord,
    decoded_or_none,
)
from harpia_formats.files.io.spill import FixedRecords
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.rules.sample_rules import REPEATED_ID
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Container, Remark
from harpia_formats.validation.dedup.digests import (
    WHOLE,
    Digests,
    Partitions,
    Share,
    digest_of,
    digests_of,
)
from harpia_formats.validation.dedup.identity import IdentityReader

#: Digests held in memory, 8 bytes each, before they are written to a file.
HELD_PAIRS = 256 * 1024

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

    def __init__(self, held: int = HELD_PAIRS, whole: int = WHOLE) -> None:
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
        if self.is_empty:
            return
        keys = few[::2]
        distinct = len(set(keys))
        # To make pairs of keys that all differ takes five times as long as this.
        if len(keys) == distinct > 0:
            return
        if distinct == len(set(zip(keys, few[1::2], strict=True))) > 0:
            return
        for share, mask, part in self._parts():
            if found := self._several(share, mask, part):
                yield share.partition, list(found)

    def shares(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield keys and their values, in the order in which they were added.

        All of one key come together, with about `whole` others at most. Raises
        `SourceError` if the temporary file fails.
        """
        few = self._partitions.few
        if few:
            yield list(few[::2]), list(few[1::2])
            return
        yield from starmap(self._in_part, self._parts())

    def _parts(self) -> Iterator[tuple[Share, int, int]]:
        """Yield partitions, each with a mask and every value of it.

        Of about `whole` keys the second byte has one value under the mask.
        """
        self._partitions.flush()
        for partition in range(_MOST_PARTS):
            count = self._partitions.count_of(partition) // 2
            parts = 1
            while parts < _MOST_PARTS and count > parts * self._whole:
                parts *= 2
            for part in range(parts):
                yield Share(partition), parts - 1, part

    def repetitions(self) -> Iterator[tuple[dict[int, int], list[int], list[int]]]:
        """Yield what of the keys repeats, some at a time, in the same order each time.

        Yields how often each key comes with its only value, by that value, for keys
        that come several times; the keys that have several values; and all keys that
        come several times. Raises `SourceError` if the temporary file fails.
        """
        for keys, values in self.shares():
            if len(set(keys)) == len(keys):
                continue
            times = Counter(keys)
            last = dict(zip(keys, values, strict=True))
            several = {
                key
                for key, value in zip(keys, values, strict=True)
                if last[key] != value
            }
            repeated = [key for key, count in times.items() if count > 1]
            only = {last[key]: times[key] for key in repeated if key not in several}
            yield only, list(several), repeated

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


#: Digests that are looked for in one pass, a bit over 8 bytes each.
HELD_REPEATED = 4 * 1024 * 1024
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
    """Digests that are looked for, such as repeated ones, sorted by their low byte."""

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

    def add_all(self, digests: Iterable[int]) -> None:
        """Add repeated `digests` of any low bytes."""
        parts: dict[int, list[int]] = {}
        for digest in digests:
            parts.setdefault(digest & 0xFF, []).append(digest)
        for partition, found in parts.items():
            self.add(partition, found)

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
    digests: Digests | PairDigests, held: int = HELD_REPEATED
) -> Iterator[RepeatedDigests]:
    """Yield the repeated ones of `digests` in batches of about `held`, one per pass.

    Raises `SourceError` if a temporary file fails.
    """
    return _batches(digests.repeated_by_partition(), held)


def missing_digest_batches(
    digests: Digests, other: Digests, held: int = HELD_REPEATED
) -> Iterator[RepeatedDigests]:
    """Yield the digests that `other` lacks, as `repeated_digest_batches` does."""
    return _batches(digests.missing_by_partition(other), held)


def _batches(
    found: Iterable[tuple[int, list[int]]], held: int
) -> Iterator[RepeatedDigests]:
    """Yield digests, each time some of one low byte, in batches of about `held`."""
    batch = None
    for partition, some in found:
        if batch is None:
            batch = RepeatedDigests()
        batch.add(partition, some)
        if len(batch) >= held:
            yield batch
            batch = None
    if batch is not None:
        yield batch


class WholeTexts:
    """Whole texts of several rows, for a rule that compares roughly.

    Here are those that no other text is roughly the same as: the rows that have one
    say the same, and what they say need not be compared exactly.
    """

    def __init__(
        self,
        store: PairDigests,
        depth_of: Callable[[int], int],
        most: int = HELD_REPEATED,
        is_reported: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """Take the digests of rough texts and whole ones, and look at `most` texts.

        `depth_of` tells, by the digest of its whole text, how many keys of the place
        of a finding a row has, and `is_reported` whether another rule reports rows with
        this text: these are passed over.
        """
        self._store = store
        self._most = most
        self._is_reported = is_reported
        #: The digests of the texts, and how many these are.
        self.repeated = RepeatedDigests()
        self.count = 0
        #: How many rows have a text that a row before them has, by how many of these
        #: keys they have.
        self.left: dict[int, int] = {}
        #: Whether `left` is of all rows that say the same as one before them.
        self.is_complete = True
        #: How much of the place those rows have that are compared exactly, if they do
        #: not differ in that.
        self.depth_of_others = 0
        self._has_others = False
        found = array("Q")
        for times, others in self._parted():
            self._has_others |= bool(others)
            found.extend(times)
            for digest, number in times.items():
                depth = depth_of(digest)
                self.left[depth] = self.left.get(depth, 0) + number - 1
        self.repeated.add_all(found)
        self.count = len(found)

    def _parted(self) -> Iterator[tuple[dict[int, int], list[int]]]:
        """Yield how often texts come, and other rough texts, as far as there is room.

        Beyond `most` texts, all are others.
        """
        count = 0
        for found, several, repeated in self._store.repetitions():
            times = {
                digest: number
                for digest, number in found.items()
                if not self._is_reported(digest)
            }
            count += len(times)
            yield (times, several) if count <= self._most else ({}, repeated)

    def add_others(self, depths: Collection[int], exact: Digests) -> None:
        """Add the rows that were compared exactly to those that are left.

        `exact` has the digests of what they say, and they have these parts of the
        place. Raises `SourceError` if the temporary file fails.
        """
        self.is_complete = len(depths) < 2  # noqa: PLR2004 - they differ
        for depth in depths:
            self.depth_of_others = depth
            surplus = exact.repeated().surplus if self.is_complete else 0
            self.left[depth] = self.left.get(depth, 0) + surplus

    def others(self) -> Iterator[RepeatedDigests]:
        """Yield other rough texts of several rows in batches, one for each pass."""
        if not self._has_others:
            return
        batch = RepeatedDigests()
        for _, others in self._parted():
            batch.add_all(others)
            if len(batch) >= self._most:
                yield batch
                batch = RepeatedDigests()
        if len(batch):
            yield batch


#: Ids that are compared as texts; for further ones equal digests are taken as proof.
NAMED = 100_000


class DuplicateId(Struct, frozen=True):
    """A record whose id is that of a record before it."""

    record: NumberedRecord
    #: Number and place of the first record with the same id, if they are known.
    first: int = 0
    first_start: Cursor | None = None

    @property
    def value(self) -> Any:
        """The decoded record."""
        return self.record.value()


#: Returns whether the next records, after so many and so many of them, were all
#: accepted: these are JSON for sure.
AreAccepted = Callable[[int, int], bool]
#: A record with a key: its number, its chunk and its row in it, the key, the digest.
_KeyedRecord = tuple[int, Chunk, int, str, int]


class DuplicateIdFinder:
    """Collects the ids of the records of one file, and finds those that repeat."""

    def __init__(
        self, identity: IdentityReader, again: Callable[[], DocumentFrames]
    ) -> None:
        """Read ids by `identity`; `again` returns the frames of the file once more."""
        self.identity = identity
        self._again = again
        self._digests = Digests()

    def add(self, keys: Collection[str]) -> None:
        """Add the keys of some records.

        Raises `SourceError` if the temporary file cannot be written.
        """
        if keys:
            self._digests.add(keys)

    def add_digests(self, digests: Collection[int]) -> None:
        """Add the keys of some records by their digests; raises as `add` does."""
        self._digests.add_digests(digests)

    def close(self) -> None:
        """Delete the keys."""
        self._digests.close()

    def repeats(
        self, until: int, are_accepted: AreAccepted | None = None
    ) -> Iterator[DuplicateId]:
        """Yield the records up to number `until` whose id a record before them has.

        They are in order, unless so many ids repeat that the file is read several
        times. `are_accepted` tells which records need not be parsed again. Raises
        `SourceError` if the temporary file fails.
        """
        accepted = are_accepted or (lambda _before, _count: False)
        for batch in repeated_digest_batches(self._digests):
            yield from self._find(batch, until, accepted)

    def _find(
        self, repeated: RepeatedDigests, until: int, are_accepted: AreAccepted
    ) -> Iterator[DuplicateId]:
        """Read the file again; the first `NAMED` ids are compared as texts."""
        firsts: dict[str, tuple[int, Cursor]] = {}
        for number, chunk, row, key, digest in self._keyed(are_accepted):
            if number > until:
                return
            occurrence = repeated.record(digest)
            if occurrence is Occurrence.ONLY:
                continue
            if key in firsts:
                record = NumberedRecord(number, chunk, row)
                yield DuplicateId(record, *firsts[key])
            elif len(firsts) < NAMED:
                firsts[key] = (number, chunk.start_of(row))
            elif occurrence is Occurrence.AGAIN:
                yield DuplicateId(NumberedRecord(number, chunk, row))

    def _keyed(self, are_accepted: AreAccepted) -> Iterator[_KeyedRecord]:
        """Yield each record with a key: its number, chunk, row, key and digest."""
        number = 0
        for frame in self._again():
            if isinstance(frame, FramingFault):
                number += frame.record
                continue
            if not isinstance(frame, Chunk):
                continue
            keys = None
            if frame.is_plain() and are_accepted(number, len(frame)):
                keys = self.identity.keys_of_lines(frame.data, len(frame))
            if keys is None:
                yield from self._keyed_rows(frame, number)
                number += sum(not is_blank(text) for text in frame.rows)
                continue
            for row, digest in enumerate(digests_of(keys)):
                yield number + row + 1, frame, row, keys[row], digest
            number += len(keys)

    def _keyed_rows(self, chunk: Chunk, number: int) -> Iterator[_KeyedRecord]:
        """Yield the records of a chunk with a key, parsed one by one."""
        for row, text in enumerate(chunk.rows):
            if is_blank(text):
                continue
            number += 1
            for key in self.identity.keys_of_value(decoded_or_none(text)):
                yield number, chunk, row, key, digest_of(key)


def identity_reader_of(variant: FormatVariant | None) -> IdentityReader | None:
    """Return the reader of the ids of a variant's records, None if they have none."""
    if variant is None or not variant.format.identity_paths:
        return None
    if variant.dialect.container not in {Container.ROWS, Container.WRAPPED}:
        return None
    format_ = variant.format
    return IdentityReader(format_.identity_paths, by_text=format_.id_by_text)


def duplicate_id_remark(
    duplicate: DuplicateId, key: str, record_text: Callable[[int, int], str]
) -> Remark:
    """Return the finding about a record whose id, at `key`, another record has.

    `record_text` returns which record a number and a line are, such as "record 3".
    """
    owner = "a record before it"
    if duplicate.first_start is not None:
        owner = record_text(duplicate.first, duplicate.first_start.line)
    message = f"{key} {short_json(duplicate.value[key])} is already that of {owner}"
    return Remark(REPEATED_ID, (key,), message, "give each record an id of its own")
