"""The keys of the records of a data set on disk, with their places."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from harpia_formats.conversion.comparison.record_partitions import (
    PARTS,
    RecordPartitions,
    StoredRecord,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.problem import Place
from harpia_formats.model.report import FileCount

#: Keys that are held in memory at once, some 150 bytes each.
HELD = 200_000
#: The place of a record: the index of its file, line, column, offset in bytes, and its
#: number. The id that its row has stands behind it as JSON.
_place = struct.Struct("<IQQQQ")


#: Returns the place in the members of a file, as messages show it, of one in its text.
ShownPlace = Callable[[Place], Place]


def in_text(place: Place) -> Place:
    """Return a place as it is: one in a file without members."""
    return place


@dataclass(slots=True)
class RecordStore:
    """The keys of records, distributed so that equal ones are read together."""

    shown: ShownPlace = in_text
    records: RecordPartitions = field(default_factory=RecordPartitions)
    files: list[tuple[FileCount, str]] = field(default_factory=list)

    def add(
        self, key: str, placed: PlacedRecord, count: FileCount, data: bytes
    ) -> None:
        """Add the key of a record, with `data` on it."""
        if not self.files or self.files[-1][0] is not count:
            self.files.append((count, placed.id_key))
        start = placed.start
        where = start.line, start.column, start.offset, placed.number
        place = _place.pack(len(self.files) - 1, *where) + encode(placed.row_id)
        self.records.add(self.records.count, key, place, data)

    @property
    def count(self) -> int:
        """The number of keys that were added, including equal ones."""
        return self.records.count

    def count_of(self, stored: StoredRecord) -> FileCount:
        """Return the counts of the file that a record is in."""
        file: int = _place.unpack_from(stored.place)[0]
        return self.files[file][0]

    def number_of(self, stored: StoredRecord) -> int:
        """Return the number of a record in its file."""
        number: int = _place.unpack_from(stored.place)[4]
        return number

    def place_of(self, stored: StoredRecord) -> Place:
        """Return the place of the first byte of a record's row."""
        file, line, column, offset, number = _place.unpack_from(stored.place)
        count, id_key = self.files[file]
        return Place(
            path=count.path,
            line=line,
            column=column + 1,
            end_column=column + 2,
            byte_offset=offset,
            record=number,
            record_id=decode(stored.place[_place.size :]),
            record_id_key=id_key,
        )

    def line_of(self, stored: StoredRecord) -> str:
        """Return the file and the line of a record, as the messages of others show it.

        Its file was read to the end.
        """
        place = self.shown(self.place_of(stored))
        return f"{place.full_path}:{place.line}"

    def close(self) -> None:
        """Delete the temporary file."""
        self.records.close()


@dataclass(frozen=True, slots=True)
class Portion:
    """A portion of all keys, the same one of each store."""

    part: int
    remainder: int
    divisor: int

    def of(self, store: RecordStore) -> Iterator[StoredRecord]:
        """Yield the records of a store whose keys are in the portion, in order."""
        for stored in store.records.part(self.part):
            if stored.digest // PARTS % self.divisor == self.remainder:
                yield stored


def portions(*stores: RecordStore, held: int = HELD) -> Iterator[Portion]:
    """Yield portions of all keys, of which about `held` keys are in memory at once."""
    most = max(store.count for store in stores)
    divisor = 1 + most // (PARTS * held)
    for part in range(PARTS):
        for remainder in range(divisor):
            yield Portion(part, remainder, divisor)
