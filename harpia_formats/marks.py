"""Which records of a file are wrong, by their numbers: a bit for each."""

from bisect import bisect_left
from dataclasses import dataclass, field

from harpia_formats.report import FileCount


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


class Numbers:
    """The numbers of a chunk's records, blank rows left out."""

    def __init__(self, before: int, blank: list[int]) -> None:
        self._before = before
        self._blank = blank

    def of(self, row: int) -> int:
        """Return the number of the record in `row`, from 1."""
        return self._before + row + 1 - bisect_left(self._blank, row)
