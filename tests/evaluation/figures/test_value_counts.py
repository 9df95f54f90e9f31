"""Counts of numbers in bins: exact, of bounded size, and in any order."""

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from harpia_formats.evaluation.figures.answer_counts import (
    BINS,
    RangeCounts,
    ScaleCounts,
)

_numbers = st.lists(st.floats(-1e100, 1e100) | st.integers(0, 3000), min_size=1)


def counted(numbers: list[float]) -> RangeCounts:
    """Return counts of numbers."""
    found = RangeCounts()
    for number in numbers:
        found.add(number)
    return found


@given(_numbers)
def test_each_number_is_in_one_bin(numbers: list[float]) -> None:
    """Bins have all numbers, follow each other, and are not many."""
    bins = counted(numbers).bins()

    assert len(bins) <= BINS
    assert sum(one.count for one in bins) == len(numbers)
    assert all(a.high == b.low for a, b in itertools.pairwise(bins))
    assert bins[0].low <= min(numbers)
    assert max(numbers) <= bins[-1].high


@settings(max_examples=25, deadline=None)
@given(_numbers, st.randoms(use_true_random=False), st.integers(0, 20))
def test_bins_do_not_depend_on_the_order_or_on_parts(
    numbers: list[float], shuffled: random.Random, cut: int
) -> None:
    """Any order of the numbers gives the same bins, and so do two parts."""
    many = [*numbers, *(at * 0.37 for at in range(1100))]
    mixed = list(many)
    shuffled.shuffle(mixed)
    part = counted(mixed[cut:])
    part.merge(counted(mixed[:cut]))

    assert counted(many).bins() == counted(mixed).bins() == part.bins()


def test_numbers_beyond_a_scale_are_counted_apart() -> None:
    """Rounding is no reason to say so; a score of 1.2 from 0 to 1 is."""
    counts = ScaleCounts(1.0)
    for value in (0.0, 0.04, 0.5, 1.0, 1.0 + 1e-12, 1.2):
        counts.add(value)

    assert [one.count for one in counts.bins() if one.count] == [2, 1, 3]
    assert counts.beyond == 1
