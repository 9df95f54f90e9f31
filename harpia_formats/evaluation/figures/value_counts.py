"""Counts of numbers in bins, in memory that does not grow with them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, Self

from harpia_formats.model.bins import Bin

#: Bins of a scale that is known, and the most of one that is not.
BINS = 20
#: Bins that are kept, and those that are left when there are more.
_KEPT, _LEFT = 1024, 512
#: The most that rounding may add to the best score.
_ROUNDING = 1e-9


@dataclass(slots=True)
class ScaleCounts:
    """Counts of numbers from 0 to `best` in bins of one width."""

    best: float
    counts: list[int] = field(default_factory=lambda: [0] * BINS)
    #: How many numbers are not on the scale, for which rounding is no reason.
    beyond: int = 0

    def add(self, value: float) -> None:
        """Count a number; one that is not on the scale is in the bin at its end."""
        share = value / self.best
        self.counts[max(0, min(int(share * BINS), BINS - 1))] += 1
        self.beyond += not -_ROUNDING <= share <= 1 + _ROUNDING

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.beyond += other.beyond
        self.counts = list(map(int.__add__, self.counts, other.counts))

    def bins(self) -> list[Bin]:
        """Return all bins, empty ones too."""
        width = self.best / BINS
        return [
            Bin(at * width, (at + 1) * width, count)
            for at, count in enumerate(self.counts)
        ]


@dataclass(slots=True)
class RangeCounts:
    """Counts of numbers whose range is not known before the last one.

    The width of a bin is a power of two and its edges are multiples of it, so that bins
    can be joined. It follows from the range alone, and not from the order of numbers.
    """

    beyond: ClassVar = 0

    #: The number of numbers by their bin, and by themselves at first.
    counts: dict[float, int] = field(default_factory=dict)
    #: The exponent of the width, None while each number is counted by itself.
    _exponent: int | None = None

    def add(self, value: float) -> None:
        """Count a number."""
        at: float = value
        if self._exponent is not None:
            at = _at(value, self._exponent)
        self.counts[at] = self.counts.get(at, 0) + 1
        if len(self.counts) > _KEPT:
            self.counts, self._exponent = self._joined(_LEFT)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        exponents = [one._exponent for one in (self, other)]  # noqa: SLF001 - of this class
        known = [one for one in exponents if one is not None]
        exponent = max(known) if known else None
        joined: dict[float, int] = {}
        for value, count in chain(self._values(), other._values()):
            at = value if exponent is None else _at(value, exponent)
            joined[at] = joined.get(at, 0) + count
        self.counts, self._exponent = joined, exponent
        if len(self.counts) > _KEPT:
            self.counts, self._exponent = self._joined(_LEFT)

    def _values(self) -> Iterator[tuple[float, int]]:
        """Yield each number, or the start of its bin, and how many there are."""
        for at, count in self.counts.items():
            exponent = self._exponent
            yield at if exponent is None else math.ldexp(at, exponent), count

    def bins(self) -> list[Bin]:
        """Return the bins from the least to the greatest number, empty ones too."""
        if not self.counts:
            return []
        if self._exponent is None and len(self.counts) == 1:
            ((value, count),) = self.counts.items()
            return [Bin(value, value, count)]
        counts, exponent = self._joined(BINS)
        first, last = int(min(counts)), int(max(counts))
        return [
            Bin(
                math.ldexp(at, exponent),
                math.ldexp(at + 1, exponent),
                counts.get(at, 0),
            )
            for at in range(first, last + 1)
        ]

    def _joined(self, most: int) -> tuple[dict[float, int], int]:
        """Return at most so many bins of the least width, and its exponent."""
        values = list(self._values())
        low, high = min(values)[0], max(values)[0]
        exponent = math.frexp((high - low) / most)[1] - 1
        if self._exponent is not None:
            exponent = max(exponent, self._exponent)
        while _at(high, exponent) - _at(low, exponent) >= most:
            exponent += 1
        joined: dict[float, int] = {}
        for value, count in values:
            at = _at(value, exponent)
            joined[at] = joined.get(at, 0) + count
        return joined, exponent


def _at(value: float, exponent: int) -> int:
    """Return the place of a number in bins whose width has this exponent."""
    scaled = math.ldexp(value, -exponent)
    # A small negative number is scaled to 0.
    return -1 if value < 0 and not scaled else math.floor(scaled)
