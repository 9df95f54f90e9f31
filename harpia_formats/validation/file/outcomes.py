"""Which records of a file are wrong, by their numbers: a bit for each."""

from bisect import bisect_left
from dataclasses import dataclass, field

from harpia_formats.model.report import FileCount


@dataclass(slots=True)
class Marks:
    """A set of record numbers, counted from 1, that needs a bit for each record."""

    bits: bytearray = field(default_factory=bytearray)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self.bits) and bool(self.bits[place] >> (number & 7) & 1)

    def add(self, number: int) -> bool:
        """Add a number; tell whether it is new."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self.bits):
            self.bits += bytes(place + 1 - len(self.bits))
        before = self.bits[place]
        self.bits[place] = before | bit
        return not before & bit

    def add_all(self, bits: bytes, before: int) -> None:
        """Add the numbers of another set, each larger by `before`."""
        if not bits:
            return
        place, shift = divmod(before, 8)
        shifted = int.from_bytes(bits, "little") << shift
        end = place + len(bits) + 1
        if end > len(self.bits):
            self.bits += bytes(end - len(self.bits))
        shifted |= int.from_bytes(self.bits[place:end], "little")
        self.bits[place:end] = shifted.to_bytes(end - place, "little")


@dataclass(slots=True)
class Outcomes:
    """What became of the records of a file, each counted once.

    A record may be met several times: in each of its columns, or again because of
    its id. One that could not be judged is never a valid one.
    """

    count: FileCount
    wrong: Marks = field(default_factory=Marks)
    open: Marks = field(default_factory=Marks)

    def note_wrong(self, number: int) -> None:
        """Count record `number` as invalid."""
        if self.wrong.add(number):
            self.count.invalid += 1
            self.count.undetermined -= number in self.open

    def note_open(self, number: int) -> None:
        """Count record `number` as undetermined, unless it is invalid."""
        if self.open.add(number):
            self.count.undetermined += number not in self.wrong

    def add(self, wrong: bytes, open_: bytes, before: int) -> None:
        """Count records that were judged elsewhere, numbered from `before` on.

        None of them was met here.
        """
        unjudged = int.from_bytes(open_, "little")
        self.count.invalid += int.from_bytes(wrong, "little").bit_count()
        unjudged &= ~int.from_bytes(wrong, "little")
        self.count.undetermined += unjudged.bit_count()
        self.wrong.add_all(wrong, before)
        self.open.add_all(open_, before)


class Numbers:
    """The numbers of a chunk's records, blank rows left out."""

    def __init__(self, before: int, blank: list[int]) -> None:
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self._before + row + 1 - bisect_left(self._blank, row)
