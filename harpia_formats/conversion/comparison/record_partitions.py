"""Distribute records over the parts of a temporary file by the keys they match by."""

import heapq
import struct
from array import array
from collections.abc import Iterator
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

from harpia_formats.validation.dedup.digests import digest_of

#: Parts that the records of a data set are distributed over.
PARTS = 64
#: Bytes of records that are held in memory before they are written to the file.
HELD_BYTES = 4 * 1024 * 1024
#: Stands in front of each record: its number, the digest of its key, and the sizes of
#: its key, its place and its text.
_head = struct.Struct("<QQIII")


class StoredRecord(NamedTuple):
    """A record as it is in the file."""

    #: The number of the record in its data set.
    number: int
    #: The text that it is matched by.
    key: str
    digest: int
    #: Its place, packed.
    place: bytes
    #: Its JSON text.
    text: bytes
    #: The offset of it in the temporary file.
    offset: int


class RecordPartitions:
    """The encoded records of a data set, in parts by their keys; to be closed.

    Records with equal keys are in one part, in the order in which they were added.
    """

    __slots__ = ("_blocks", "_file", "_held", "_size", "count")

    def __init__(self) -> None:
        #: Records that were added.
        self.count = 0
        self._held: list[list[bytes]] = [[] for _ in range(PARTS)]
        self._size = 0
        #: Offset and size of each block of a part in the file, in turn.
        self._blocks = [array("Q") for _ in range(PARTS)]
        self._file: IO[bytes] = SpooledTemporaryFile(HELD_BYTES)  # noqa: SIM115 - `close` closes it

    def add(self, number: int, key: str, place: bytes, text: bytes) -> None:
        """Add a record, whose `number` is greater than those of records before."""
        digest = digest_of(key)
        key_text = key.encode("utf-8", "surrogatepass")
        head = _head.pack(number, digest, len(key_text), len(place), len(text))
        self._held[digest % PARTS] += (head, key_text, place, text)
        self.count += 1
        self._size += len(head) + len(key_text) + len(place) + len(text)
        if self._size >= HELD_BYTES:
            self._write_held()

    def part(self, part: int) -> Iterator[StoredRecord]:
        """Yield the records of a part in their order."""
        self._write_held()
        blocks = self._blocks[part]
        for offset, size in zip(blocks[::2], blocks[1::2], strict=True):
            data = self._read(offset, size)
            at = 0
            while at < size:
                record, end = _record_in(data, at, offset + at)
                yield record
                at = end

    def all(self) -> Iterator[StoredRecord]:
        """Yield the records of all parts in the order of their numbers."""
        parts = map(self.part, range(PARTS))
        return heapq.merge(*parts, key=attrgetter("number"))

    def at(self, offset: int) -> StoredRecord:
        """Return the record that is at an offset of the file."""
        head = self._read(offset, _head.size)
        rest = self._read(offset + _head.size, sum(_head.unpack(head)[2:]))
        return _record_in(head + rest, 0, offset)[0]

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def _read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def _write_held(self) -> None:
        """Write the records that are in memory, those of each part as one block."""
        if not self._size:
            return
        offset = self._file.seek(0, 2)
        for held, blocks in zip(self._held, self._blocks, strict=True):
            if held:
                size = self._file.write(b"".join(held))
                blocks.extend((offset, size))
                offset += size
                held.clear()
        self._size = 0


def _record_in(data: bytes, at: int, offset: int) -> tuple[StoredRecord, int]:
    """Return the record that begins at `at` in `data`, and where it ends there.

    `offset` is where it is in the file.
    """
    number, digest, key_size, place_size, text_size = _head.unpack_from(data, at)
    key = at + _head.size
    place = key + key_size
    text = place + place_size
    end = text + text_size
    key_text = data[key:place].decode("utf-8", "surrogatepass")
    record = StoredRecord(
        number, key_text, digest, data[place:text], data[text:end], offset
    )
    return record, end
