"""Distribute records over the parts of a temporary file by the keys they match by."""

from collections.abc import Iterator
from typing import NamedTuple

from harpia_formats.files.io.spill import Framed, FramedRecords
from harpia_formats.validation.dedup.digests import digest_of

#: Parts that the records of a data set are distributed over.
PARTS = 64
#: Bytes of records that are held in memory before they are written to the file.
HELD_BYTES = 4 * 1024 * 1024


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

    __slots__ = ("_records", "count")

    def __init__(self) -> None:
        #: Records that were added.
        self.count = 0
        #: The number of a record and the digest of its key, then the key, the place
        #: and the text.
        self._records = FramedRecords("QQ", 3, HELD_BYTES, PARTS)

    def add(self, number: int, key: str, place: bytes, text: bytes) -> None:
        """Add a record behind the others with its key."""
        digest = digest_of(key)
        fields = key.encode("utf-8", "surrogatepass"), place, text
        self._records.append((number, digest), fields, digest % PARTS)
        self.count += 1

    def part(self, part: int) -> Iterator[StoredRecord]:
        """Yield the records of a part in their order."""
        return map(_stored, self._records.records(part))

    def at(self, offset: int) -> StoredRecord:
        """Return the record that is at an offset of the file."""
        return _stored(self._records.at(offset))

    def close(self) -> None:
        """Delete the temporary file."""
        self._records.close()


def _stored(framed: Framed) -> StoredRecord:
    """Return a record as it was added."""
    offset, (number, digest), (key, place, text) = framed
    key_text = key.decode("utf-8", "surrogatepass")
    return StoredRecord(number, key_text, digest, place, text, offset)
