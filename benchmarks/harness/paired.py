"""Ratios of paired runs, with an interval for their median."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: The least probability with which an interval holds the true median.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class MedianRatio:
    """The median of some ratios, and an interval for the median of all ratios."""

    median: float
    low: float
    high: float
    #: The probability with which the interval holds the true median.
    confidence: float

    def within(self, limit: float) -> bool:
        """Tell whether the median is at most `limit`, or the interval includes it."""
        return self.median <= limit or self.low <= limit <= self.high


def median_ratio(before: Sequence[float], after: Sequence[float]) -> MedianRatio:
    """Return the median of `after` divided by `before`, pair by pair.

    The interval lies between the k-th smallest and the k-th largest ratio, with the
    largest k whose confidence is at least `CONFIDENCE` (the interval of the sign test,
    which assumes no distribution). Fewer than six pairs get the smallest and the
    largest ratio, with less confidence. Raises `ValueError` without a pair.
    """
    ratios = sorted(b / a for a, b in zip(before, after, strict=True))
    if not ratios:
        raise ValueError("there are no pairs")
    count = len(ratios)
    outside, place = 0.0, 0
    for number in range(count // 2):
        tail = sum(math.comb(count, k) for k in range(number + 1)) / 2**count
        if number and 1 - 2 * tail < CONFIDENCE:
            break
        outside, place = 2 * tail, number
    return MedianRatio(
        statistics.median(ratios),
        ratios[place],
        ratios[count - 1 - place],
        1 - outside if count > 1 else 0.0,
    )
