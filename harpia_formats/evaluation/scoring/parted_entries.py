"""Entries of fixed size that begin with a digest, parted by it, in bounded memory.

Beyond some megabytes they are in a temporary file, from which one part after the other
is read again.
"""

from collections.abc import Iterator
from itertools import chain
from struct import Struct
from typing import Any

from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.evaluation.scoring.temporary_bytes import TemporaryBytes

#: Bytes of entries that are held in memory before they are written to a file.
HELD = 2 * 1024 * 1024
#: Parts of the entries by the first byte of the digest.
PARTS = 256


class PartedEntries:
    """Tuples of a digest and numbers; to be closed with `close`."""

    def __init__(self, numbers: str, held: int = HELD) -> None:
        """Hold entries whose `numbers` have this format of `struct`."""
        self._entry = Struct(f"<{WIDTH}s{numbers}")
        self._left = self._held = held
        self._parts = [bytearray() for _ in range(PARTS)]
        #: The offset and size of each piece of each part in the file.
        self._runs: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]
        self._file = TemporaryBytes()

    def add(self, key: bytes, *numbers: float) -> None:
        """Add an entry; raises `SourceError` if the file cannot be written."""
        self._parts[key[0]] += self._entry.pack(key, *numbers)
        self._left -= self._entry.size
        if self._left < 0:
            self._write_held()

    def of_part(self, part: int) -> Iterator[tuple[Any, ...]]:
        """Yield the entries of a part, from 0 to `PARTS` - 1, in the order of adding.

        Raises `SourceError` if the file cannot be read.
        """
        for data in chain(self._stored(part), [self._parts[part]]):
            yield from self._entry.iter_unpack(data)

    def _stored(self, part: int) -> Iterator[bytearray]:
        """Yield the entries of a part that are in the file, some at a time."""
        for offset, size in self._runs[part]:
            data = bytearray(size)
            self._file.read_into(data, offset)
            yield data

    def _write_held(self) -> None:
        """Move all entries that are in memory to the file."""
        for part, runs in zip(self._parts, self._runs, strict=True):
            if part:
                runs.append((self._file.size, len(part)))
                self._file.append(part)
                part.clear()
        self._left = self._held

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._file.close()
