"""Confidence intervals by resampling questions, from the statistics of their answers.

This is a Poisson bootstrap: in every replicate each question has a weight drawn from
the Poisson distribution with mean 1 (Chamandy and others, Estimating Uncertainty for
Massive Data Streams, 2012). The weight depends only on the question, the seed and the
replicate. So answers may be added in any order and in any chunks, answers to one
question are drawn together wherever they are, and two systems have the same weights.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from harpia_formats.evaluation.scoring.draws import (
    pieces,
    unavailable_reason,
    weights_of,
)

Scores = Callable[[Sequence[float]], tuple[float | None, ...]]

REPLICATES = 1000
SEED = 12345
LEVEL = 0.95
#: Statistics are rounded to multiples of QUANTUM before they are weighted, so that sums
#: below 2^29 are exact and do not depend on the order of additions.
QUANTUM = 2.0**-24


@dataclass(slots=True)
class PoissonBootstrap:
    """The sums of the statistics of questions in every replicate.

    Its memory depends only on the number of replicates and of statistics. Without
    numpy it has no replicates; see `unavailable_reason`.
    """

    replicates: int = REPLICATES
    seed: int = SEED
    _sums: Any = None

    def add(self, keys: Sequence[bytes], rows: Sequence[Sequence[float]]) -> None:
        """Add the statistics of answers to questions, which digests identify.

        Several answers to a question may be in one call or in several.
        """
        if not keys or unavailable_reason():
            return
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        exact = np.rint(np.asarray(rows, dtype=np.float64) / QUANTUM) * QUANTUM
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

    def merge(self, other: Self) -> None:
        """Add the answers of `other`.

        Raises `ValueError` unless both have the same seed and number of replicates.
        """
        if (self.replicates, self.seed) != (other.replicates, other.seed):
            raise ValueError(
                "only bootstraps with the same seed and replicates can be merged"
            )
        if self._sums is None or other._sums is None:
            self._sums = other._sums if self._sums is None else self._sums
        else:
            self._sums = self._sums + other._sums

    def intervals(
        self, scores: Scores, level: float = LEVEL
    ) -> list[tuple[float, float] | None]:
        """Return the confidence interval of each score, None where there is none.

        Its ends are percentiles of the replicates that have a score.
        """
        columns = zip(*self.replicated(scores), strict=True)
        return [
            limits_of([value for value in column if value is not None], level)
            for column in columns
        ]

    def replicated(self, scores: Scores) -> Iterator[tuple[float | None, ...]]:
        """Yield the scores of every replicate; nothing without numpy or answers."""
        if self._sums is not None:
            yield from (scores(sums) for sums in self._sums.T.tolist())


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
