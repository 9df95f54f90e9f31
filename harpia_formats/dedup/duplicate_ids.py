"""Find the records whose id another record of the file has already.

In the first pass only 8-byte digests are kept. If some occur more than once, the file
is read again to compare the ids themselves and to say where they are.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.dedup.digests import Digests, digest_of
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.dedup.repeated_digests import (
    Occurrence,
    RepeatedDigests,
    repeated_digest_batches,
)
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Cursor
from harpia_formats.framing.columns import DocumentFrames
from harpia_formats.framing.numbered import NumberedRecord, numbered_records
from harpia_formats.model.format import Container, Remark
from harpia_formats.rules.across import REPEATED_ID
from harpia_formats.text.describe import short_json

#: Ids that are compared as texts; of further ones equal digests are taken as proof.
NAMED = 100_000


@dataclass(frozen=True, slots=True)
class DuplicateId:
    """A record whose id is that of one before it."""

    record: NumberedRecord
    value: Any
    #: Number and place of the first record with the same id, if they are known.
    first: int = 0
    first_start: Cursor | None = None


class DuplicateIdFinder:
    """What tells the records of one file apart, and which of them are not."""

    def __init__(
        self, identity: IdentityReader, again: Callable[[], DocumentFrames]
    ) -> None:
        """Take what reads ids, and what returns the frames of the file once more."""
        self.identity = identity
        self._again = again
        self._digests = Digests()

    def add(self, keys: Collection[str]) -> None:
        """Take note of what tells some records apart. Raises `SourceError`."""
        if keys:
            self._digests.add(keys)

    def add_digests(self, digests: Collection[int]) -> None:
        """Take note of keys by their digests. Raises `SourceError`."""
        self._digests.add_digests(digests)

    def close(self) -> None:
        """Let go of what was noted."""
        self._digests.close()

    def repeats(self, until: int) -> Iterator[DuplicateId]:
        """Yield the records up to number `until` whose id was there before.

        They are in order unless so many ids are repeated that one look is not enough.
        """
        for awaited in repeated_digest_batches(self._digests):
            yield from self._look(awaited, until)

    def _look(self, awaited: RepeatedDigests, until: int) -> Iterator[DuplicateId]:
        """Read the file again; the first `NAMED` ids are compared as texts."""
        firsts: dict[str, tuple[int, Cursor]] = {}
        for record in numbered_records(self._again()):
            if record.number > until:
                return
            value = record.value()
            for key in self.identity.keys_of_value(value):
                meeting = awaited.record(digest_of(key))
                if meeting is Occurrence.UNEXPECTED:
                    continue
                if key in firsts:
                    yield DuplicateId(record, value, *firsts[key])
                elif len(firsts) < NAMED:
                    firsts[key] = (record.number, record.start)
                elif meeting is Occurrence.AGAIN:
                    yield DuplicateId(record, value)


def duplicate_id_finder(
    variant: FormatVariant | None, again: Callable[[], DocumentFrames]
) -> DuplicateIdFinder | None:
    """Return what looks for repeated ids in a file, None if its records have none."""
    identity = identity_reader_of(variant)
    return None if identity is None else DuplicateIdFinder(identity, again)


def identity_reader_of(variant: FormatVariant | None) -> IdentityReader | None:
    """Return what reads the ids of a file's records, None if they have none."""
    if variant is None or not variant.format.identity_paths:
        return None
    if variant.dialect.container not in {Container.ROWS, Container.WRAPPED}:
        return None
    format_ = variant.format
    return IdentityReader(format_.identity_paths, by_text=format_.id_by_text)


def duplicate_id_remark(repeat: DuplicateId, key: str) -> Remark:
    """Return what to say of a record whose id, at `key`, is that of another."""
    of_whom = "a record before it"
    if repeat.first_start is not None:
        of_whom = f"record {repeat.first:,}, in line {repeat.first_start.line:,}"
    message = f"{key} {short_json(repeat.value[key])} is already that of {of_whom}"
    return Remark(REPEATED_ID, (key,), message, "give each record an id of its own")
