"""Find the records whose id another record of the file has already.

In the first pass only 8-byte digests are kept. If some occur more than once, the file
is read again to compare the ids themselves and to say where they are.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.dedup.digests import Digests, digest_of
from harpia_formats.dedup.identity import Identity
from harpia_formats.dedup.repeated_digests import Awaited, Meeting, looks_for
from harpia_formats.detection.candidates import Variant
from harpia_formats.framing.columns import Slices
from harpia_formats.framing.lines import Cursor
from harpia_formats.framing.numbered import Numbered, records_of
from harpia_formats.model.format import Container, Remark
from harpia_formats.rules.across import REPEATED_ID
from harpia_formats.text.describe import shown

#: Ids that are compared as texts; of further ones equal digests are taken as proof.
NAMED = 100_000


@dataclass(frozen=True, slots=True)
class Repeat:
    """A record whose id is that of one before it."""

    record: Numbered
    value: Any
    #: Number and place of the first record with the same id, if they are known.
    first: int = 0
    first_start: Cursor | None = None


class Uniqueness:
    """What tells the records of one file apart, and which of them are not."""

    def __init__(self, identity: Identity, again: Callable[[], Slices]) -> None:
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

    def repeats(self, until: int) -> Iterator[Repeat]:
        """Yield the records up to number `until` whose id was there before.

        They are in order unless so many ids are repeated that one look is not enough.
        """
        for awaited in looks_for(self._digests):
            yield from self._look(awaited, until)

    def _look(self, awaited: Awaited, until: int) -> Iterator[Repeat]:
        """Read the file again; the first `NAMED` ids are compared as texts."""
        firsts: dict[str, tuple[int, Cursor]] = {}
        for record in records_of(self._again()):
            if record.number > until:
                return
            value = record.value()
            for key in self.identity.of_value(value):
                meeting = awaited.meet(digest_of(key))
                if meeting is Meeting.UNEXPECTED:
                    continue
                if key in firsts:
                    yield Repeat(record, value, *firsts[key])
                elif len(firsts) < NAMED:
                    firsts[key] = (record.number, record.start)
                elif meeting is Meeting.AGAIN:
                    yield Repeat(record, value)


def uniqueness_of(
    variant: Variant | None, again: Callable[[], Slices]
) -> Uniqueness | None:
    """Return what looks for repeated ids in a file, None if its records have none."""
    identity = identity_of(variant)
    return None if identity is None else Uniqueness(identity, again)


def identity_of(variant: Variant | None) -> Identity | None:
    """Return what reads the ids of a file's records, None if they have none."""
    if variant is None or not variant.format.tells_apart:
        return None
    if variant.dialect.container not in {Container.ROWS, Container.WRAPPED}:
        return None
    format_ = variant.format
    return Identity(format_.tells_apart, by_text=format_.id_by_text)


def remark_on(repeat: Repeat, key: str) -> Remark:
    """Return what to say of a record whose id, at `key`, is that of another."""
    of_whom = "a record before it"
    if repeat.first_start is not None:
        of_whom = f"record {repeat.first:,}, in line {repeat.first_start.line:,}"
    message = f"{key} {shown(repeat.value[key])} is already that of {of_whom}"
    return Remark(REPEATED_ID, (key,), message, "give each record an id of its own")
