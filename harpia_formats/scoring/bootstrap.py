"""Confidence intervals and paired comparisons, from the statistics of records.

A Poisson bootstrap: in every replicate each record counts as often as a number drawn
from the Poisson distribution with mean 1 says (Chamandy and others, Estimating
Uncertainty for Massive Data Streams, 2012). The number depends on the seed, the number
of the record and the replicate only, so that chunks may be added and merged in any
order, and two systems are resampled alike.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby, islice
from typing import Any, Self

from harpia_formats.scoring.poisson import BLOCK, weights_of

Scores = Callable[[Sequence[float]], tuple[float | None, ...]]
Rows = Iterable[Sequence[float]]

REPLICATES = 1000
SEED = 12345
LEVEL = 0.95
#: Statistics are rounded to multiples of the first before they are weighted, so that
#: sums below 2^29 are exact and do not depend on the order of additions. What they came
#: to unweighted also has the sum of what is left, in multiples of the second.
QUANTUM, FINE = 2.0**-24, 2.0**-50
#: Fewer records than these have no interval.
LEAST = 2
NO_NUMPY = (
    "confidence intervals need numpy, which comes with "
    "pip install 'harpia-formats[score]'"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far two systems are apart on the same records, by one score."""

    #: The score of the first less that of the second.
    difference: float
    #: Where the difference lies at the level of confidence asked for.
    low: float
    high: float
    #: How probable a difference as large is if there is none in truth.
    p_value: float


def unavailable_reason() -> str:
    """Return why nothing can be resampled here, or "" if it can."""
    return "" if find_spec("numpy") else NO_NUMPY


@dataclass(slots=True)
class PoissonBootstrap:
    """The sums of the statistics of records in every replicate.

    Its memory depends on the number of replicates and of statistics only. Without
    numpy it counts records and has no intervals; `unavailable_reason` tells why.
    """

    replicates: int = REPLICATES
    seed: int = SEED
    #: The number of the next record, unless `add` is told another.
    following: int = 0
    #: How many records were added.
    count: int = 0
    _observed: Any = None
    _sums: Any = None

    def add(self, rows: Rows, first: int | None = None) -> None:
        """Add the statistics of records, the first of which has the number `first`.

        Records are numbered from 0 over the whole data set; without `first` the rows
        follow those of the last call.
        """
        start = self.following if first is None else first
        for chunk in _chunks(rows, start):
            self.add_numbered(range(start, start + len(chunk)), chunk)
            start += len(chunk)
        self.following = start

    def add_numbered(
        self, numbers: Sequence[int], rows: Sequence[Sequence[float]]
    ) -> None:
        """Add the statistics of records with these numbers, which ascend."""
        if unavailable_reason():
            self.count += len(rows)
            return
        both = zip(numbers, rows, strict=True)
        for block, part in groupby(both, key=lambda each: each[0] // BLOCK):
            found = list(part)
            places = [number % BLOCK for number, _ in found]
            self._add([row for _, row in found], block, places)

    def merge(self, other: Self) -> None:
        """Add what was added to `other`, of the same seed and replicates."""
        if (self.replicates, self.seed) != (other.replicates, other.seed):
            raise ValueError("only resamplings of one seed and size can be merged")
        self._observed = _added(self._observed, other._observed)
        self._sums = _added(self._sums, other._sums)
        self.count += other.count
        self.following = max(self.following, other.following)

    @property
    def observed(self) -> tuple[float, ...]:
        """The sums of the statistics, of which there are none without numpy."""
        return () if self._observed is None else tuple(self._observed.sum(0).tolist())

    def interval(
        self, scores: Scores, level: float = LEVEL
    ) -> list[tuple[float, float] | None]:
        """Return for each score the limits between which it lies, or None.

        The limits are percentiles of the replicates that have a score. None is for a
        score that was not reached, for fewer than two records, and without numpy.
        """
        names = len(scores(self.observed))
        if self._sums is None or self.count < LEAST:
            return [None] * names
        columns = zip(*self.replicated(scores), strict=True)
        return [limits_of(_known(each), level) for each in columns]

    def replicated(self, scores: Scores) -> Iterator[tuple[float | None, ...]]:
        """Yield the scores of every replicate; there are none without numpy."""
        if self._sums is not None:
            yield from (scores(each) for each in self._sums.tolist())

    def _add(
        self, rows: Sequence[Sequence[float]], block: int, places: Sequence[int]
    ) -> None:
        """Add the statistics of records at some places of a block."""
        import numpy as np  # noqa: PLC0415 - only where it is asked for and installed

        weights = weights_of(self.seed, block, self.replicates)
        here = weights[list(places)].T.astype(np.float64)
        found = np.asarray(rows, dtype=np.float64)
        rough = np.rint(found / QUANTUM) * QUANTUM
        left = np.rint((found - rough) / FINE) * FINE
        self._sums = _added(self._sums, here @ rough)
        both = np.stack([rough.sum(0), left.sum(0)])
        self._observed = _added(self._observed, both)
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
    """Compare two systems by their statistics of the same records, in one order.

    Returns a comparison for each score, as `compare_bootstraps` does.
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
    """Compare two systems that were resampled with the same seed.

    The p-value is two-sided: the share of replicates that lie as far from the
    difference found as that lies from 0 (Efron and Tibshirani, An Introduction to the
    Bootstrap, 1993, chapter 16). Where no difference was found it is 1. It is about
    twice that of sacrebleu, which centres absolute differences. None is for a score
    that one of the systems lacks, for fewer than two records, and without numpy.
    Raises `ValueError` for systems with unlike seeds or numbers of records.
    """
    if (first.replicates, first.seed) != (second.replicates, second.seed):
        raise ValueError("only resamplings of one seed and size can be compared")
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
    """Return the percentiles between which the share `level` of `values` lies."""
    if not values:
        return None
    ordered = sorted(values)
    outside = (1 - level) / 2 * (len(ordered) - 1)
    return _at(ordered, outside), _at(ordered, len(ordered) - 1 - outside)


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
    as_far = sum(abs(each - difference) >= size for each in differences)
    return (as_far + 1) / (len(differences) + 1)


def _at(ordered: Sequence[float], place: float) -> float:
    """Return the value at a place between two, linearly."""
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return min(low + (high - low) * (place - below), high)


def _chunks(rows: Rows, start: int) -> Iterator[list[Sequence[float]]]:
    """Yield rows that lie in one block each."""
    left = iter(rows)
    while chunk := list(islice(left, BLOCK - start % BLOCK)):
        yield chunk
        start += len(chunk)


def _added(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _known(values: Iterable[float | None]) -> list[float]:
    return [each for each in values if each is not None]
