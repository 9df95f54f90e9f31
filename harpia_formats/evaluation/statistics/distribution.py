"""The distribution of any number of whole numbers, in bounded memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from harpia_formats.model.bins import LengthCounts

#: Distinct numbers that are counted one by one.
MAX_DISTINCT = 4096
#: Bits of a number that are kept where there are more: the error of a percentile is
#: then at most one half of 2^-8 of it.
KEPT_BITS = 8
#: The largest error of a percentile, relative to the number.
ERROR = 2.0 ** -(KEPT_BITS + 1)
#: The percentiles of a summary, by their names.
PERCENTILES = {"p5": 5, "p25": 25, "p50": 50, "p75": 75, "p95": 95, "p99": 99}


@dataclass(slots=True)
class Distribution:
    """How often each number was added; none of them is negative.

    Up to `MAX_DISTINCT` distinct numbers are counted one by one. Beyond, only their
    first bits are kept. Both depend on the numbers, and not on their order or parts.
    """

    _counts: "Counter[int]" = field(default_factory=Counter)
    #: Of all numbers, once they are not counted one by one: how many there are, their
    #: sum, the least and the largest.
    _totals: tuple[int, int, int, int] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether percentiles are exact."""
        return self._totals is None

    def add(self, numbers: Sequence[int]) -> None:
        """Add some numbers."""
        if not numbers:
            return
        if self._totals is None:
            self._counts.update(numbers)
            self._bound()
        else:
            totals = len(numbers), sum(numbers), min(numbers), max(numbers)
            self._add_totals(totals)
            self._counts.update(map(_first_bits, numbers))

    def merge(self, other: Self) -> None:
        """Add the numbers of `other`."""
        if other._totals is not None or self._totals is not None:
            self._keep_bits()
            # The counts of `other` may be those of a result that is kept.
            totals = other._totals or _totals_of(other._counts)
            self._add_totals(totals)
            for number, count in other._counts.items():
                self._counts[_first_bits(number)] += count
            return
        self._counts.update(other._counts)
        self._bound()

    def _bound(self) -> None:
        if len(self._counts) > MAX_DISTINCT:
            self._keep_bits()

    def _keep_bits(self) -> None:
        """Keep only the first bits of each number."""
        if self._totals is not None:
            return
        self._totals = _totals_of(self._counts)
        counts, self._counts = self._counts, Counter()
        for number, count in counts.items():
            self._counts[_first_bits(number)] += count

    def _add_totals(self, more: tuple[int, int, int, int]) -> None:
        number, total, least, most = self.totals
        if not more[0]:
            return
        if number:
            least, most = min(least, more[2]), max(most, more[3])
        else:
            least, most = more[2:]
        self._totals = number + more[0], total + more[1], least, most

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """How many numbers there are, their sum, the least and the largest."""
        return self._totals or _totals_of(self._counts)

    def summary(self) -> dict[str, Any]:
        """Return the number, least, percentiles, largest, mean and sum of the numbers.

        A percentile p is the least number that at least p % of all do not exceed.
        """
        number, total, least, most = self.totals
        if not number:
            return {"count": 0}
        found: dict[str, Any] = {"count": number, "min": least}
        found |= self._percentiles(number, least, most)
        found |= {"max": most, "mean": total / number, "sum": total}
        return {**found, "exact": self.is_exact}

    def _percentiles(self, number: int, least: int, most: int) -> dict[str, int]:
        ranks = {
            name: -(-number * percent // 100) for name, percent in PERCENTILES.items()
        }
        found: dict[str, int] = {}
        below = 0
        waiting = list(ranks.items())
        for value in sorted(self._counts):
            below += self._counts[value]
            while waiting and waiting[0][1] <= below:
                shown = value if self.is_exact else _middle(value)
                found[waiting.pop(0)[0]] = max(least, min(shown, most))
            if not waiting:
                break
        return found

    def histogram(self) -> list[dict[str, int]]:
        """Return how many numbers are in each range; there are four for a doubling.

        Ranges at the ends without a number are left out.
        """
        found = LengthCounts()
        for number, count in self._counts.items():
            found.add(number, count)
        return [
            {"from": int(each.low), "to": int(each.high) - 1, "count": each.count}
            for each in found.bins()
        ]


def _totals_of(counts: Mapping[int, int]) -> tuple[int, int, int, int]:
    if not counts:
        return 0, 0, 0, 0
    total = sum(number * count for number, count in counts.items())
    return sum(counts.values()), total, min(counts), max(counts)


def _first_bits(number: int) -> int:
    """Return a number with all but its first bits set to 0."""
    shift = number.bit_length() - KEPT_BITS - 1
    return number >> shift << shift if shift > 0 else number


def _middle(number: int) -> int:
    """Return the middle of the numbers with the same first bits."""
    shift = number.bit_length() - KEPT_BITS - 1
    return number + (1 << shift >> 1) if shift > 0 else number


def merge_all(mine: dict[str, Any], other: Mapping[str, Any], new: Any) -> None:
    """Merge each value of `other` into that of its name; `new` makes a missing one."""
    for name, value in other.items():
        if name not in mine:
            mine[name] = new()
        mine[name].merge(value)
