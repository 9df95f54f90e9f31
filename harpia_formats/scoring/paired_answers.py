"""The answers of two systems to the same questions, by one metric."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from harpia_formats.scoring.bootstrap import Scores


@dataclass(frozen=True, slots=True)
class PairedAnswers:
    """The answers of two systems to the same questions, by one metric.

    Each list has one member a question, each row the sums of statistics over answers.
    """

    #: Returns a score for each name of the metric from summed statistics.
    scores: Scores
    #: The best score of a metric that is a mean, None for a pooled metric.
    best: float | None
    #: The largest difference that the scale allows, infinite if it is not known.
    widest: float = math.inf
    #: The digests of the questions.
    keys: list[bytes] = field(default_factory=list)
    first: list[Sequence[float]] = field(default_factory=list)
    second: list[Sequence[float]] = field(default_factory=list)
    #: How many scored answers each system has.
    first_counts: list[int] = field(default_factory=list)
    second_counts: list[int] = field(default_factory=list)

    def add(
        self,
        key: bytes,
        first: Sequence[Sequence[float]],
        second: Sequence[Sequence[float]],
    ) -> None:
        """Add a question with the statistics of each answer of both systems."""
        self.keys.append(key)
        self.first.append(summed(first))
        self.second.append(summed(second))
        self.first_counts.append(len(first))
        self.second_counts.append(len(second))

    def values(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return the scores of both systems over all questions."""
        return self.scores(summed(self.first)), self.scores(summed(self.second))

    def difference(self, at: int) -> float | None:
        """Return the difference of the score at a place, None if a system lacks it."""
        one, other = (found[at] for found in self.values())
        return None if one is None or other is None else one - other

    def differing(self) -> int:
        """Return on how many questions the systems have other statistics."""
        pairs = zip(self.first, self.second, strict=True)
        return sum(one != other for one, other in pairs)

    def parts(self, at: int) -> list[float] | None:
        """Return what each question adds to the difference of a score.

        `at` is the place of the score among the names of the metric. The sum of the
        parts is the difference of the means over answers. Where a question has more
        answers of one system than of the other, only deviations from the common mean
        count, whose expected value is 0 if the systems are equal. Returns None for a
        pooled metric.
        """
        if self.best is None:
            return None
        first = self._totals(at, self.first, self.first_counts)
        second = self._totals(at, self.second, self.second_counts)
        numbers = sum(self.first_counts), sum(self.second_counts)
        mean = 0.0
        if self.first_counts != self.second_counts:
            mean = math.fsum(chain(first, second)) / sum(numbers)
        ours, theirs = (
            [
                (total - mean * count) / number
                for total, count in zip(totals, counts, strict=True)
            ]
            for totals, counts, number in (
                (first, self.first_counts, numbers[0]),
                (second, self.second_counts, numbers[1]),
            )
        )
        return [one - other for one, other in zip(ours, theirs, strict=True)]

    def _totals(
        self, at: int, rows: Sequence[Sequence[float]], counts: Sequence[int]
    ) -> list[float]:
        """Return the sum of the scores of the answers to each question."""
        return [
            (self.scores(row)[at] or 0.0) * count
            for row, count in zip(rows, counts, strict=True)
        ]


def summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sums of statistics, place by place; their order does not matter."""
    if len(rows) == 1:
        return tuple(rows[0])
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))
