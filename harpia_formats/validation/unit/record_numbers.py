"""Numbers of records: which of them a row has, and sets of them."""

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


class Numbers:
    """The numbers of a chunk's records, blank rows left out."""

    def __init__(self, before: int, blank: list[int]) -> None:
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self._before + row + 1 - bisect_left(self._blank, row)
