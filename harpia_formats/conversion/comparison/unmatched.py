"""Find the records of a data set that match those of another one."""

from collections import deque
from collections.abc import Iterator

from harpia_formats.conversion.comparison.record_partitions import (
    RecordPartitions,
    StoredRecord,
)


class Unmatched:
    """The records of one part of a data set that were not matched yet."""

    def __init__(self, records: RecordPartitions, part: int) -> None:
        self._records = records
        self._next = records.part(part)
        #: Where records are that were passed over, by the digests of their keys.
        self._passed: dict[int, deque[int]] = {}

    def take(self, wanted: StoredRecord) -> StoredRecord | None:
        """Return the first record with the key of `wanted`, None if there is none.

        It is not returned again. Where both data sets have one order, none is passed
        over.
        """
        passed = self._passed.get(wanted.digest, ())
        for offset in passed:
            record = self._records.at(offset)
            if record.key == wanted.key:
                self._remove(wanted.digest, offset)
                return record
        for record in self._next:
            if record.key == wanted.key:
                return record
            self._passed.setdefault(record.digest, deque()).append(record.offset)
        return None

    def _remove(self, digest: int, offset: int) -> None:
        offsets = self._passed[digest]
        offsets.remove(offset)
        if not offsets:
            del self._passed[digest]

    def rest(self) -> Iterator[StoredRecord]:
        """Yield the records that were not taken."""
        for offsets in self._passed.values():
            yield from map(self._records.at, offsets)
        yield from self._next
