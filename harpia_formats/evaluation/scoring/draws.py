"""Random numbers of questions, from their digests and a seed alone.

A question has the same numbers on every machine, in every process, and wherever in the
data it stands. They are the outputs of SplitMix64 (Steele, Lea and Flood, Fast
Splittable Pseudorandom Number Generators, 2014), started with the digest and the seed.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

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
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    raw = _random(keys, seed ^ _flips, -(-draws // 64), first // 64)
    return np.unpackbits(raw.view(np.uint8), axis=1, count=draws)


def pieces(count: int, numbers: int) -> Iterator[slice]:
    """Yield slices of `count` questions with `numbers` random numbers of 64 bits each.

    So many are drawn at once that their memory is bounded.
    """
    size = max(PIECE // max(numbers, 1), 1)
    for start in range(0, count, size):
        yield slice(start, start + size)


def _random(keys: Sequence[bytes], seed: int, count: int, first: int) -> Any:
    """Return `count` random integers of 64 bits for each key, from `first` on."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    halves = np.frombuffer(b"".join(keys), dtype="<u8").reshape(-1, 2)
    start = np.array([seed], dtype="<u8")
    _mix(start, np)
    found = halves[:, 0] + start
    _mix(found, np)
    found ^= halves[:, 1]
    steps = np.arange(first + 1, first + count + 1, dtype="<u8") * np.uint64(_step)
    numbers = found[:, None] + steps
    _mix(numbers, np)
    return numbers


def _mix(numbers: Any, np: Any) -> None:
    """Mix the bits of each number in place, as SplitMix64 does."""
    for shift, factor in ((30, _first), (27, _second)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    numbers ^= numbers >> np.uint64(31)


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
