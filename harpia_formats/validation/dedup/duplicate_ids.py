"""Find the records whose id another record of the file has already.

In the first pass only digests of 8 bytes are kept. If some occur more than once, the
file is read again to compare the ids themselves and to find their places.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault, is_blank
from harpia_formats.files.framing.columns import DocumentFrames
from harpia_formats.files.framing.numbered import NumberedRecord, decoded_or_none
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.rules.across import REPEATED_ID
from harpia_formats.model.format import Container, Remark
from harpia_formats.model.text.describe import short_json
from harpia_formats.validation.dedup.digests import Digests, digest_of, digests_of
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.dedup.repeated_digests import (
    Occurrence,
    RepeatedDigests,
    repeated_digest_batches,
)

#: Ids that are compared as texts; for further ones equal digests are taken as proof.
NAMED = 100_000


@dataclass(frozen=True, slots=True)
class DuplicateId:
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


def duplicate_id_finder(
    variant: FormatVariant | None, again: Callable[[], DocumentFrames]
) -> DuplicateIdFinder | None:
    """Return a finder of duplicate ids for a file, None if its records have no ids.

    `again` returns the frames of the file once more.
    """
    identity = identity_reader_of(variant)
    return None if identity is None else DuplicateIdFinder(identity, again)


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
