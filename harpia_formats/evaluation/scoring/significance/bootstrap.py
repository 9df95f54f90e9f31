"""Confidence intervals by resampling questions, from the statistics of their answers.

This is a Poisson bootstrap: in every replicate each question has a weight drawn from
the Poisson distribution with mean 1 (Chamandy and others, Estimating Uncertainty for
Massive Data Streams, 2012). The weight depends only on the question, the seed and the
replicate. So answers may be added in any order and in any chunks, answers to one
question are drawn together wherever they are, and two systems have the same weights.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


class _Numpy:
    """The module numpy, which is in the extra score: imported when it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("numpy"), name)


np: Any = _Numpy()

#: Weights are drawn from 16 random bits.
CHANCES = 1 << 16
#: More than any weight that 16 random bits can give.
MOST = 12
#: Draws start at a multiple of this number: those of one random number of 64 bits.
TOGETHER = 64
#: Random numbers that are drawn together, 8 bytes each.
PIECE = 64 * 1024
NO_NUMPY = (
    "bootstrap intervals and comparisons need numpy, which comes with "
    "pip install 'harpia-formats[score]'"
)
_step, _first, _second = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
#: Separates the random bits of permutations from those of weights.
_flips = 0x5851F42D4C957F2D


def unavailable_reason() -> str:
    """Return why numbers cannot be drawn, "" if they can."""
    return "" if find_spec("numpy") else NO_NUMPY


def weights_of(
    keys: Sequence[bytes], seed: int, replicates: int, first: int = 0
) -> Any:
    """Return the weight of each question in each replicate, as a numpy array.

    The weights are small integers, drawn from the Poisson distribution with mean 1,
    whose probabilities are rounded to 1/65,536. `first` is the number of the first
    replicate, a multiple of `TOGETHER`.
    """
    raw = _random(keys, seed, -(-replicates // 4), first // 4)
    return _quantiles()[raw.view("<u2")[:, :replicates]]


def flips_of(keys: Sequence[bytes], seed: int, draws: int, first: int = 0) -> Any:
    """Return 0 or 1 for each question in each draw, as a numpy array.

    `first` is the number of the first draw, a multiple of `TOGETHER`.
    """
    raw = _random(keys, seed ^ _flips, -(-draws // 64), first // 64)
    return np.unpackbits(raw.view(np.uint8), axis=1, count=draws)


def pieces(count: int, numbers: int) -> Iterator[slice]:
    """Yield slices of `count` questions with `numbers` random numbers of 64 bits each.

    So many are drawn at once that their memory is bounded; `numbers` is at most
    `PIECE`.
    """
    size = PIECE // max(numbers, 1)
    for start in range(0, count, size):
        yield slice(start, start + size)


def _random(keys: Sequence[bytes], seed: int, count: int, first: int) -> Any:
    """Return `count` random integers of 64 bits for each key, from `first` on."""
    halves = np.frombuffer(b"".join(keys), dtype="<u8").reshape(-1, 2)
    start = np.array([seed], dtype="<u8")
    _mix(start)
    found = halves[:, 0] + start
    _mix(found)
    found ^= halves[:, 1]
    steps = np.arange(first + 1, first + count + 1, dtype="<u8") * np.uint64(_step)
    numbers = found[:, None] + steps
    _mix(numbers)
    return numbers


def _mix(numbers: Any) -> None:
    """Mix the bits of each number in place, as SplitMix64 does."""
    for shift, factor in ((30, _first), (27, _second)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    numbers ^= numbers >> np.uint64(31)


@cache
def _quantiles() -> Any:
    """Return the weight for each value of 16 random bits."""
    shares, share, total = [], math.exp(-1), 0.0
    for number in range(MOST):
        total += share
        shares.append(round(total * CHANCES))
        share /= number + 1
    return np.searchsorted(shares, np.arange(CHANCES), side="right").astype(np.uint8)


#: The scores of one metric, and what returns them from summed statistics.
Values = tuple[float | None, ...]
Scores = Callable[[Sequence[float]], Values]
#: The ends of an interval, None if there are none, and how many replicates have no
#: score.
Resampled = tuple[tuple[float, float] | None, int]

REPLICATES = 1000
SEED = 12345
LEVEL = 0.95
#: Statistics are rounded to multiples of QUANTUM before they are weighted, so that sums
#: below 2^29 are exact and do not depend on the order of additions.
QUANTUM = 2.0**-24
#: Scores that are all below the first need a smaller multiple to keep their digits; the
#: second is the smallest that is used.
_SMALL, _LEAST_QUANTUM = 2.0**-10, 2.0**-900


def quantum_of(largest: float) -> float:
    """Return the number to whose multiples scores up to `largest` are rounded.

    It is a power of 2, in proportion to `largest` where that is small. The number of
    answers, which is among the statistics, is a multiple of it and is not rounded.
    """
    if not 0 < largest < _SMALL:
        return QUANTUM
    return max(math.ldexp(QUANTUM, math.frexp(largest)[1]), _LEAST_QUANTUM)


@dataclass(slots=True)
class PoissonBootstrap:
    """The sums of the statistics of questions in every replicate.

    Its memory depends only on the number of replicates and of statistics. Without
    numpy it has no replicates; see `unavailable_reason`.
    """

    replicates: int = REPLICATES
    seed: int = SEED
    #: Statistics are rounded to multiples of it.
    quantum: float = QUANTUM
    _sums: Any = None

    def add(self, keys: Sequence[bytes], rows: Sequence[Sequence[float]]) -> None:
        """Add the statistics of answers to questions, which digests identify.

        Several answers to a question may be in one call or in several.
        """
        if not self.replicates or unavailable_reason():
            return
        exact = np.rint(np.asarray(rows, dtype=np.float64) / self.quantum)
        exact *= self.quantum
        places: dict[bytes, int] = {}
        at = [places.setdefault(key, len(places)) for key in keys]
        if len(places) < len(keys):
            summed = np.zeros((len(places), exact.shape[1]))
            np.add.at(summed, at, exact)
            exact = summed
        questions = list(places)
        for part in pieces(len(questions), self.replicates // 4):
            weights = weights_of(questions[part], self.seed, self.replicates)
            # Not by `@`, which starts threads for each of these small products.
            found = np.einsum("ks,kr->sr", exact[part], weights.astype(np.float64))
            self._sums = found if self._sums is None else self._sums + found

    def replicated(self, scores: Scores) -> Iterator[Values]:
        """Yield the scores of every replicate; nothing without numpy or answers."""
        if self._sums is not None:
            yield from (scores(sums) for sums in self._sums.T.tolist())


def resampled(replicates: Iterable[Values], level: float = LEVEL) -> list[Resampled]:
    """Return the interval of each score from its values in the replicates.

    Its ends are percentiles of the replicates that have a score.
    """
    found = []
    for column in zip(*replicates, strict=True):
        values = [value for value in column if value is not None]
        found.append((limits_of(values, level), len(column) - len(values)))
    return found


def limits_of(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Return the two percentiles that enclose the central share `level` of `values`.

    Returns None without values.
    """
    if not values:
        return None
    ordered = sorted(values)
    outside = (1 - level) / 2 * (len(ordered) - 1)
    return _value_at(ordered, outside), _value_at(ordered, len(ordered) - 1 - outside)


def _value_at(ordered: Sequence[float], place: float) -> float:
    """Return the value at a fractional place, interpolated linearly."""
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return min(low + (high - low) * (place - below), high)
