"""The numbers of records in a file: of the rows of a chunk, and sets of them."""

from bisect import bisect_left

import msgspec

#: The set that holds only record 1, as bits.
FIRST_RECORD = b"\x02"


class RecordSet(msgspec.Struct):
    """A set of record numbers, counted from 1, that needs a bit for each record."""

    bits: bytearray = msgspec.field(default_factory=bytearray)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self.bits) and bool(self.bits[place] >> (number & 7) & 1)

    def add(self, number: int) -> None:
        """Add a number."""
        place = number >> 3
        if place >= len(self.bits):
            self.bits += bytes(place + 1 - len(self.bits))
        self.bits[place] |= 1 << (number & 7)


class RecordNumbers:
    """The numbers of the records in the rows of a chunk; blank rows have none."""

    def __init__(self, before: int, blank: list[int]) -> None:
        """Take the number of records before the chunk, and its blank rows in order."""
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self._before + row + 1 - bisect_left(self._blank, row)
