"""Distribute records over the parts of a temporary file by the keys they match by."""

from array import array
from collections import Counter
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from harpia_formats.files.io.spill import FixedRecords, Framed, FramedRecords
from harpia_formats.validation.dedup.digests import HELD, digest_of

#: Parts that the records of a data set are distributed over.
PARTS = 64
#: Digests of records that are counted at once, some 150 bytes each.
_COUNTED = 64 * 1024
#: A digest that only equal records share.
_DIGEST = Struct("16s")
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

    __slots__ = ("_digests", "_records", "count")

    def __init__(self) -> None:
        #: Records that were added.
        self.count = 0
        #: The digests of the keys.
        self._digests = FixedRecords("Q", HELD, PARTS)
        #: The number of a record and the digest of its key, then the key, the place
        #: and the text.
        self._records = FramedRecords("QQ", 3, HELD_BYTES, PARTS)

    def add(self, number: int, key: str, place: bytes, text: bytes) -> None:
        """Add a record behind the others with its key."""
        digest = digest_of(key)
        fields = key.encode("utf-8", "surrogatepass"), place, text
        self._records.append((number, digest), fields, digest % PARTS)
        self._digests.held[digest % PARTS].append(digest)
        self._digests.added(1)
        self.count += 1

    def part(self, part: int) -> Iterator[StoredRecord]:
        """Yield the records of a part in their order."""
        return map(_stored, self._records.records(part))

    def repeated(self, part: int) -> set[int]:
        """Return the digests of keys that several records of a part have."""
        digests = array("Q", b"".join(self._digests.blocks(part)))
        if len(set(digests)) == len(digests):  # as mostly
            return set()
        return {digest for digest, count in Counter(digests).items() if count > 1}

    def at(self, offset: int) -> StoredRecord:
        """Return the record that is at an offset of the file."""
        return _stored(self._records.at(offset))

    def close(self) -> None:
        """Delete the temporary files."""
        self._records.close()
        self._digests.close()


def _stored(framed: Framed) -> StoredRecord:
    """Return a record as it was added."""
    offset, (number, digest), (key, place, text) = framed
    key_text = key.decode("utf-8", "surrogatepass")
    return StoredRecord(number, key_text, digest, place, text, offset)


class Identities:
    """A digest for each of some records, which equal ones share, and where they are."""

    def __init__(self) -> None:
        self._digests = bytearray()
        self._offsets = array("Q")

    def add(self, record: StoredRecord, text: bytes) -> None:
        """Add a record behind the others, which is equal to those with its text."""
        from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, for few data sets

        key = record.key.encode("utf-8", "surrogatepass")
        digest = blake2b(b"%b\n%b" % (key, text), digest_size=_DIGEST.size)
        self._digests += digest.digest()
        self._offsets.append(record.offset)

    def __len__(self) -> int:
        return len(self._offsets)

    def share(self, share: int, of: int) -> Iterator[tuple[bytes, int]]:
        """Yield the digests and places of one of so many shares of all digests."""
        digests = _DIGEST.iter_unpack(self._digests)
        for (digest,), offset in zip(digests, self._offsets, strict=True):
            if digest[0] % of == share:
                yield digest, offset

    def without(self, others: "Identities") -> list[int]:
        """Return where records are that have no equal among others, in their order.

        Of several that are equal, the first ones have as many as the others are.
        """
        rest = []
        # So many are counted at once, for memory.
        shares = 1 + len(others) // _COUNTED
        for share in range(shares):
            counts = Counter(digest for digest, _ in others.share(share, shares))
            for digest, offset in self.share(share, shares):
                if counts[digest]:
                    counts[digest] -= 1
                else:
                    rest.append(offset)
        return sorted(rest)
