"""Counting numbers in bins of a histogram."""

from dataclasses import dataclass, field

#: Bins for each doubling of the number: 4, which are 2 bits behind the first one.
_BITS = 2
#: Numbers below this have a bin of their own.
_SINGLE = 1 << (_BITS + 1)


@dataclass(frozen=True, slots=True)
class Bin:
    """How many numbers are at least `low` and less than `high`."""

    low: float
    high: float
    count: int


@dataclass(slots=True)
class LengthCounts:
    """Counts of lengths (integers from 0) in bins of which each is 1/4 to 1/7 wide.

    The edges of the bins do not depend on the lengths, so that counts of parts can be
    added in any order: a doubling of the length has four bins. There are at most 250.
    """

    #: The number of lengths by the index of their bin.
    counts: dict[int, int] = field(default_factory=dict)
    least: int | None = None
    most: int | None = None
    sum: int = 0

    def add(self, length: int, times: int = 1) -> None:
        """Count a length `times` times."""
        at = index_of(length)
        self.counts[at] = self.counts.get(at, 0) + times
        self.sum += length * times
        if self.least is None or length < self.least:
            self.least = length
        if self.most is None or length > self.most:
            self.most = length

    def add_all(self, other: "LengthCounts") -> None:
        """Add the counts of another part."""
        for at, count in other.counts.items():
            self.counts[at] = self.counts.get(at, 0) + count
        self.sum += other.sum
        for bound in (other.least, other.most):
            if bound is not None:
                self.least = bound if self.least is None else min(self.least, bound)
                self.most = bound if self.most is None else max(self.most, bound)

    @property
    def total(self) -> int:
        """How many lengths were counted."""
        return sum(self.counts.values())

    def bins(self) -> list[Bin]:
        """Return the bins from the least to the greatest length, empty ones too."""
        if not self.counts:
            return []
        first, last = min(self.counts), max(self.counts)
        return [
            Bin(low_of(at), low_of(at + 1), self.counts.get(at, 0))
            for at in range(first, last + 1)
        ]


def joined_lengths(
    one: LengthCounts | None, other: LengthCounts | None
) -> LengthCounts | None:
    """Return the counts of two parts together; None if neither has any."""
    if one is None or other is None:
        return one or other
    joined = LengthCounts(dict(one.counts), one.least, one.most, one.sum)
    joined.add_all(other)
    return joined


def index_of(length: int) -> int:
    """Return the index of the bin that holds a length."""
    if length < _SINGLE:
        return length
    shift = length.bit_length() - _BITS - 1
    return (shift << _BITS) + (length >> shift)


def low_of(index: int) -> int:
    """Return the least length in the bin with this index."""
    if index < _SINGLE:
        return index
    shift = (index >> _BITS) - 1
    return ((index & ((1 << _BITS) - 1)) + (1 << _BITS)) << shift
