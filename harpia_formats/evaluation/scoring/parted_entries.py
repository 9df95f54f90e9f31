"""Entries of fixed size that begin with a digest, parted by it, in bounded memory.

Beyond some megabytes they are in a temporary file, from which one part after the other
is read again.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Any

from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.files.io.spill import FixedRecords

#: Bytes of entries that are held in memory before they are written to a file.
HELD = 2 * 1024 * 1024
#: Parts of the entries by the first byte of the digest.
PARTS = 256


class PartedEntries:
    """Tuples of a digest and numbers; to be closed with `close`."""

    def __init__(self, numbers: str, held: int = HELD) -> None:
        """Hold entries whose `numbers` have this format of `struct`."""
        self._entry = Struct(f"<{WIDTH}s{numbers}")
        self._bytes = FixedRecords("B", held, PARTS)
        #: Whole entries, so many bytes of them that are read at once.
        self._block = self._entry.size * max(1, BLOCK // self._entry.size)

    def add(self, key: bytes, *numbers: float) -> None:
        """Add an entry; raises `SourceError` if the file cannot be written."""
        self._bytes.extend_bytes(self._entry.pack(key, *numbers), key[0])

    def of_part(self, part: int) -> Iterator[tuple[Any, ...]]:
        """Yield the entries of a part, from 0 to `PARTS` - 1, in the order of adding.

        Raises `SourceError` if the file cannot be read.
        """
        for data in self._bytes.blocks(part, self._block):
            yield from self._entry.iter_unpack(data)

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._bytes.close()
