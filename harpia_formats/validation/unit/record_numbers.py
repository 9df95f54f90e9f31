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

    def discard(self, number: int) -> None:
        """Remove a number if it is there."""
        if number in self:
            self.bits[number >> 3] &= ~(1 << (number & 7)) & 0xFF

    def put(self, found: bytes, before: int) -> None:
        """Add numbers, given as bits, that are counted from `before` on."""
        bits = int.from_bytes(found, "little") << (before & 7)
        if not bits:
            return
        place, size = before >> 3, (bits.bit_length() + 7) // 8
        end = place + size
        if end > len(self.bits):
            self.bits += bytes(end - len(self.bits))
        bits |= int.from_bytes(self.bits[place:end], "little")
        self.bits[place:end] = bits.to_bytes(size, "little")

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int.from_bytes(self.bits, "little").bit_count()


class RecordNumbers:
    """The numbers of the records in the rows of a chunk; blank rows have none."""

    def __init__(self, before: int, blank: list[int]) -> None:
        """Take the number of records before the chunk, and its blank rows in order."""
        self.before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self.before + row + 1 - bisect_left(self._blank, row)
