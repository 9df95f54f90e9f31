"""Distributions: exact for few numbers, within their bound for many, in any parts."""

import random

from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.evaluation.statistics.running_counts import (
    ERROR,
    MAX_DISTINCT,
    PERCENTILES,
    Distribution,
)

NUMBERS = st.lists(st.integers(0, 10**12))


def of(numbers: list[int]) -> Distribution:
    """Return the distribution of some numbers."""
    found = Distribution()
    found.add(numbers)
    return found


def percentile(numbers: list[int], percent: int) -> int:
    """Return the least number that so many percent of all do not exceed."""
    ordered = sorted(numbers)
    return next(
        number
        for at, number in enumerate(ordered, 1)
        if at * 100 >= percent * len(ordered)
    )


@given(NUMBERS.filter(bool))
def test_few_numbers_are_exact(numbers: list[int]) -> None:
    """The summary of few different numbers is that of plain Python."""
    found = of(numbers).summary()

    assert found == {
        "count": len(numbers),
        "min": min(numbers),
        **{name: percentile(numbers, each) for name, each in PERCENTILES.items()},
        "max": max(numbers),
        "mean": sum(numbers) / len(numbers),
        "sum": sum(numbers),
        "exact": True,
    }


def test_nothing_has_no_percentiles() -> None:
    """Without a number there is only their number, and no histogram."""
    assert Distribution().summary() == {"count": 0}
    assert Distribution().histogram() == []


@given(st.lists(NUMBERS), st.randoms(use_true_random=False))
def test_parts_are_merged_to_the_whole(
    parts: list[list[int]], chance: random.Random
) -> None:
    """Distributions of parts, merged in any order, are that of all numbers."""
    merged = Distribution()
    whole = [number for part in parts for number in part]
    for part in chance.sample(parts, len(parts)):
        merged.merge(of(part))

    assert merged.summary() == of(whole).summary()
    assert merged.histogram() == of(whole).histogram()


def test_many_numbers_are_within_the_bound() -> None:
    """Beyond the exact counts percentiles are near, and all else is exact."""
    chance = random.Random(3)  # noqa: S311 - no secret
    numbers = [int(chance.paretovariate(0.4) * 100) for _ in range(3 * MAX_DISTINCT)]
    halves = [numbers[: MAX_DISTINCT // 2], numbers[MAX_DISTINCT // 2 :]]
    merged = of(halves[0])
    merged.merge(of(halves[1]))
    slowly = Distribution()
    for number in numbers:
        slowly.add([number])

    found = merged.summary()

    assert not found["exact"]
    assert found == of(numbers).summary() == slowly.summary()
    assert merged.histogram() == of(numbers).histogram()
    assert (found["min"], found["max"]) == (min(numbers), max(numbers))
    assert (found["sum"], found["count"]) == (sum(numbers), len(numbers))
    for name, percent in PERCENTILES.items():
        exact = percentile(numbers, percent)
        assert abs(found[name] - exact) <= ERROR * exact


def test_a_histogram_has_ranges_that_double() -> None:
    """Small numbers are alone, and of larger ones a doubling has four ranges."""
    ranges = of([5, 7, 8, 9, 9, 11]).histogram()

    assert [tuple(each.values()) for each in ranges] == [
        (5, 5, 1),
        (6, 6, 0),
        (7, 7, 1),
        (8, 9, 3),
        (10, 11, 1),
    ]
