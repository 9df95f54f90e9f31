"""Confidence intervals and paired comparisons, from the statistics of records.

This is a Poisson bootstrap: in every replicate each record has a weight drawn from the
Poisson distribution with mean 1 (Chamandy and others, Estimating Uncertainty for
Massive Data Streams, 2012). The weight depends only on the seed, the record number and
the replicate, so that chunks may be added and merged in any order, and two systems are
resampled with the same weights.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import groupby, islice
from typing import Any, Self

Scores = Callable[[Sequence[float]], tuple[float | None, ...]]
Rows = Iterable[Sequence[float]]

REPLICATES = 1000
SEED = 12345
LEVEL = 0.95
#: Records whose weights are drawn together; another value gives other weights.
BLOCK = 256
#: Weights are drawn from 16 random bits.
CHANCES = 1 << 16
#: More than any weight that 16 random bits can give.
MOST = 12
#: Statistics are rounded to multiples of QUANTUM before they are weighted, so that sums
#: below 2^29 are exact and do not depend on the order of additions. The unweighted sums
#: also include the remainders, rounded to multiples of FINE.
QUANTUM, FINE = 2.0**-24, 2.0**-50
#: Fewer records than these have no interval.
LEAST = 2
NO_NUMPY = (
    "confidence intervals need numpy, which comes with "
    "pip install 'harpia-formats[score]'"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one score between two systems on the same records."""

    #: The score of the first system minus that of the second.
    difference: float
    #: The confidence interval of the difference.
    low: float
    high: float
    #: The chance of a difference this large if the systems were equal.
    p_value: float


def unavailable_reason() -> str:
    """Return why resampling is not available, "" if it is."""
    return "" if find_spec("numpy") else NO_NUMPY


@dataclass(slots=True)
class PoissonBootstrap:
    """The sums of the statistics of records in every replicate.

    Its memory depends only on the number of replicates and of statistics. Without
    numpy it counts records and has no intervals; see `unavailable_reason`.
    """

    replicates: int = REPLICATES
    seed: int = SEED
    #: The number of the next record, unless `add` is given another.
    next_number: int = 0
    #: How many records were added.
    count: int = 0
    _observed: Any = None
    _sums: Any = None

    def add(self, rows: Rows, first: int | None = None) -> None:
        """Add the statistics of consecutive records, starting with number `first`.

        Records are numbered from 0 over the whole data set. Without `first` the
        numbers continue after the last call.
        """
        start = self.next_number if first is None else first
        for chunk in _chunks(rows, start):
            self.add_numbered(range(start, start + len(chunk)), chunk)
            start += len(chunk)
        self.next_number = start

    def add_numbered(
        self, numbers: Sequence[int], rows: Sequence[Sequence[float]]
    ) -> None:
        """Add the statistics of records with the given ascending numbers."""
        if unavailable_reason():
            self.count += len(rows)
            return
        both = zip(numbers, rows, strict=True)
        for block, part in groupby(both, key=lambda numbered: numbered[0] // BLOCK):
            found = list(part)
            places = [number % BLOCK for number, _ in found]
            self._add([row for _, row in found], block, places)

    def merge(self, other: Self) -> None:
        """Add the records of `other`.

        Raises `ValueError` unless both have the same seed and number of replicates.
        """
        if (self.replicates, self.seed) != (other.replicates, other.seed):
            raise ValueError(
                "only bootstraps with the same seed and replicates can be merged"
            )
        self._observed = _sum_of(self._observed, other._observed)
        self._sums = _sum_of(self._sums, other._sums)
        self.count += other.count
        self.next_number = max(self.next_number, other.next_number)

    @property
    def observed(self) -> tuple[float, ...]:
        """The unweighted sums of the statistics; empty without numpy."""
        return () if self._observed is None else tuple(self._observed.sum(0).tolist())

    def interval(
        self, scores: Scores, level: float = LEVEL
    ) -> list[tuple[float, float] | None]:
        """Return the confidence interval of each score, None where there is none.

        Its ends are percentiles of the replicates that have a score. There is none for
        a score that no replicate has, for fewer than two records, and without numpy.
        """
        names = len(scores(self.observed))
        if self._sums is None or self.count < LEAST:
            return [None] * names
        columns = zip(*self.replicated(scores), strict=True)
        return [
            limits_of([value for value in column if value is not None], level)
            for column in columns
        ]

    def replicated(self, scores: Scores) -> Iterator[tuple[float | None, ...]]:
        """Yield the scores of every replicate; nothing without numpy."""
        if self._sums is not None:
            yield from (scores(sums) for sums in self._sums.tolist())

    def _add(
        self, rows: Sequence[Sequence[float]], block: int, places: Sequence[int]
    ) -> None:
        """Add the statistics of the records at the given places of a block."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        weights = weights_of(self.seed, block, self.replicates)
        here = weights[list(places)].T.astype(np.float64)
        found = np.asarray(rows, dtype=np.float64)
        rough = np.rint(found / QUANTUM) * QUANTUM
        left = np.rint((found - rough) / FINE) * FINE
        self._sums = _sum_of(self._sums, here @ rough)
        both = np.stack([rough.sum(0), left.sum(0)])
        self._observed = _sum_of(self._observed, both)
        self.count += len(rows)


def compare_paired(  # noqa: PLR0913 - a comparison has two systems and four settings
    first: Rows,
    second: Rows,
    scores: Scores,
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    level: float = LEVEL,
) -> list[Comparison | None]:
    """Return for each score how two systems differ.

    `first` and `second` are their statistics of the same records in the same order,
    and `scores` computes the scores from sums of statistics. The result and its p-value
    are those of `compare_bootstraps`, which also names the errors.
    """
    one, other = PoissonBootstrap(replicates, seed), PoissonBootstrap(replicates, seed)
    one.add(first)
    other.add(second)
    return compare_bootstraps(one, other, scores, level)


def compare_bootstraps(
    first: PoissonBootstrap,
    second: PoissonBootstrap,
    scores: Scores,
    level: float = LEVEL,
) -> list[Comparison | None]:
    """Return for each score how two systems differ, resampled with the same seed.

    The p-value is two-sided: the share of replicates whose difference is at least as
    far from the observed difference as that is from 0 (Efron and Tibshirani, An
    Introduction to the Bootstrap, 1993, chapter 16); it is 1 if the observed difference
    is 0. It is about twice that of sacrebleu, which centres absolute differences. A
    result is None for a score that one of the systems lacks, for fewer than two
    records, and without numpy. Raises `ValueError` for different seeds, replicates or
    numbers of records.
    """
    if (first.replicates, first.seed) != (second.replicates, second.seed):
        raise ValueError(
            "only bootstraps with the same seed and replicates can be compared"
        )
    if first.count != second.count:
        raise ValueError(
            f"the first system has {first.count} records and the second {second.count}"
        )
    found = zip(scores(first.observed), scores(second.observed), strict=True)
    if unavailable_reason() or first.count < LEAST:
        return [None for _ in found]
    ones = zip(*first.replicated(scores), strict=True)
    others = zip(*second.replicated(scores), strict=True)
    return [
        _comparison(*pair, one, other, level)
        for pair, one, other in zip(found, ones, others, strict=True)
    ]


def limits_of(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Return the two percentiles that enclose the central share `level` of `values`.

    Returns None without values.
    """
    if not values:
        return None
    ordered = sorted(values)
    outside = (1 - level) / 2 * (len(ordered) - 1)
    return _value_at(ordered, outside), _value_at(ordered, len(ordered) - 1 - outside)


def _comparison(
    one: float | None,
    other: float | None,
    ones: Sequence[float | None],
    others: Sequence[float | None],
    level: float,
) -> Comparison | None:
    if one is None or other is None:
        return None
    both = zip(ones, others, strict=True)
    differences = [a - b for a, b in both if a is not None and b is not None]
    limits = limits_of(differences, level)
    if limits is None:
        return None
    return Comparison(one - other, *limits, _p_value(one - other, differences))


def _p_value(difference: float, differences: Sequence[float]) -> float:
    if not difference:
        return 1.0
    size = abs(difference)
    as_far = sum(abs(value - difference) >= size for value in differences)
    return (as_far + 1) / (len(differences) + 1)


def _value_at(ordered: Sequence[float], place: float) -> float:
    """Return the value at a fractional place, interpolated linearly."""
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return min(low + (high - low) * (place - below), high)


def _chunks(rows: Rows, start: int) -> Iterator[list[Sequence[float]]]:
    """Yield the rows in chunks that do not cross the border of a block."""
    left = iter(rows)
    while chunk := list(islice(left, BLOCK - start % BLOCK)):
        yield chunk
        start += len(chunk)


def _sum_of(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return one + other


@lru_cache(maxsize=4)
def weights_of(seed: int, block: int, replicates: int) -> Any:
    """Return the weight of each record of a block in each replicate.

    The result is an array of small integers of shape `BLOCK` x `replicates`, drawn from
    the Poisson distribution with mean 1, whose probabilities are rounded to 1/65,536.
    They depend on the arguments only, not on the process or the machine.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    source = np.random.Philox(key=seed, counter=[0, 0, block, 0])
    wanted = BLOCK * replicates
    raw = source.random_raw(-(-wanted // 4)).astype("<u8").view("<u2")[:wanted]
    return _quantiles()[raw].reshape(BLOCK, replicates)


@cache
def _quantiles() -> Any:
    """Return the weight for each value of 16 random bits."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    shares, share, total = [], math.exp(-1), 0.0
    for number in range(MOST):
        total += share
        shares.append(round(total * CHANCES))
        share /= number + 1
    return np.searchsorted(shares, np.arange(CHANCES), side="right").astype(np.uint8)
