"""Find the records whose id another record of the file has already.

In the first pass only 8-byte digests are kept. If some occur more than once, the file
is read again to compare the ids themselves and to say where they are.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.digests import Digests, digest_of
from harpia_formats.framing import Chunk, Cursor, Flaw, is_blank
from harpia_formats.identity import Identity
from harpia_formats.slices import Slices

_decode = msgspec.json.Decoder().decode
_not_json = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A record whose id is that of one before it."""

    number: int
    chunk: Chunk
    row: int
    value: Any
    #: Number and place of the first record with the same id.
    first: int
    first_start: Cursor


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

    def close(self) -> None:
        """Let go of what was noted."""
        self._digests.close()

    def repeats(self, until: int) -> Iterator[Repeat]:
        """Yield the records up to number `until` whose id was there before, in order.

        Of ids that are there more than once as many are told as the digests name.
        """
        wanted = self._digests.repeated().digests
        if not wanted:
            return
        seen: dict[str, tuple[int, Cursor]] = {}
        for number, chunk, row in _records(self._again()):
            if number > until:
                return
            value = _value(chunk.rows[row])
            for key in self.identity.of_value(value):
                if digest_of(key) not in wanted:
                    continue
                if key in seen:
                    yield Repeat(number, chunk, row, value, *seen[key])
                else:
                    seen[key] = (number, chunk.start_of(row))


def _records(frames: Slices) -> Iterator[tuple[int, Chunk, int]]:
    """Yield each record by its number, its chunk and its row in there."""
    number = 0
    for frame in frames:
        if isinstance(frame, Flaw):
            number += frame.record
        elif isinstance(frame, Chunk):
            for row, text in enumerate(frame.rows):
                if not is_blank(text):
                    number += 1
                    yield number, frame, row


def _value(text: bytes) -> Any:
    try:
        return _decode(text)
    except _not_json:
        return None
