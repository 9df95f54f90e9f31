"""The answers of systems to the same questions, by one metric."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from harpia_formats.scoring.bootstrap import Scores
from harpia_formats.scoring.question_differences import (
    QuestionDifferences,
    question_differences,
)


@dataclass(slots=True)
class QuestionSums:
    """The sums of the statistics of one system over its answers to each question."""

    #: An array with a row for each question, zeros if no answer is scored.
    rows: Any
    #: For each question the number of scored answers, and of those without a score.
    counts: Any
    unscored: Any
    #: For each question whether the system has it.
    answered: Any
    #: The sums of the scores of the answers to each question, once they are needed.
    _totals: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def of_answers(
        cls, answers: Sequence[Sequence[Sequence[float]]], width: int
    ) -> Self:
        """Return the sums of the statistics of answers, given for each question."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        rows = np.zeros((len(answers), width))
        for place, mine in enumerate(answers):
            if mine:
                rows[place] = summed(mine)
        counts = np.array([len(mine) for mine in answers], dtype=np.int64)
        return cls(rows, counts, np.zeros_like(counts), counts > 0)

    def totals(self, scores: Scores, at: int) -> Any:
        """Return the sum of a score over the answers to each question.

        `at` is the place of the score among the names of a metric that is a mean.
        """
        if not self._totals:
            import numpy as np  # noqa: PLC0415 - numpy is in the extra score

            found = [
                [(score or 0.0) * count for score in scores(row)]
                for row, count in zip(
                    self.rows.tolist(), self.counts.tolist(), strict=True
                )
            ]
            for place, column in enumerate(zip(*found, strict=True)):
                self._totals[place] = np.array(column)
        return self._totals[at]


@dataclass(slots=True)
class MetricAnswers:
    """The answers of some systems by one metric, or by one score of it."""

    #: Returns a score for each name from summed statistics.
    scores: Scores
    #: The best score of a metric that is a mean, None for a pooled metric.
    best: float | None
    #: The digests of all questions.
    keys: Sequence[bytes]
    systems: Sequence[QuestionSums]
    #: The largest difference that the scale allows, infinite if it is not known.
    widest: float = math.inf
    #: Returns why intervals are approximate, "" if they are not, from the summed
    #: statistics of a system over so many questions.
    remark: Callable[[Sequence[float], int], str] | None = None

    def pair(self, one: int, other: int) -> "PairedAnswers":
        """Return the answers of two systems, by their places in `systems`."""
        return PairedAnswers(self, self.systems[one], self.systems[other])


@dataclass(slots=True)
class PairedAnswers:
    """The answers of two systems to the questions for which both have a score."""

    metric: MetricAnswers
    first: QuestionSums
    second: QuestionSums
    #: The places of these questions among all questions.
    places: Any = None
    _sums: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        self.places = np.flatnonzero((self.first.counts > 0) & (self.second.counts > 0))

    @property
    def questions(self) -> int:
        """The number of questions."""
        return len(self.places)

    def unscored(self) -> tuple[int, int]:
        """Return the number of answers without a score to questions that both have."""
        both = self.first.answered & self.second.answered
        ours, theirs = (
            int(side.unscored[both].sum()) for side in (self.first, self.second)
        )
        return ours, theirs

    def values(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return the scores of both systems over all questions."""
        if self._sums is None:
            ours, theirs = (
                tuple(math.fsum(column.tolist()) for column in side.rows[self.places].T)
                for side in (self.first, self.second)
            )
            self._sums = ours, theirs
        scores = self.metric.scores
        if not self.questions:
            return scores(()), scores(())
        return scores(self._sums[0]), scores(self._sums[1])

    def difference(self, at: int) -> float | None:
        """Return the difference of the score at a place, None if a system lacks it."""
        one, other = (found[at] for found in self.values())
        return None if one is None or other is None else one - other

    def remark(self) -> str:
        """Return why an interval is approximate by either system, "" if it is not."""
        find = self.metric.remark
        self.values()
        if find is None or self._sums is None:
            return ""
        one, other = (find(sums, self.questions) for sums in self._sums)
        return one or other

    def differing(self) -> int:
        """Return on how many questions the systems have other statistics."""
        ours, theirs = (side.rows[self.places] for side in (self.first, self.second))
        return int((ours != theirs).any(axis=1).sum())

    def parts(self, at: int) -> Any:
        """Return what each question adds to the difference of a score, as an array.

        `at` is the place of the score among the names of the metric. The sum of the
        parts is the difference of the means over answers. Where a question has more
        answers of one system than of the other, only deviations from the common mean
        count, whose expected value is 0 if the systems are equal. Returns None for a
        pooled metric.
        """
        if self.metric.best is None:
            return None
        sides = (self.first, self.second)
        totals = [side.totals(self.metric.scores, at)[self.places] for side in sides]
        counts = [side.counts[self.places] for side in sides]
        numbers = [int(count.sum()) for count in counts]
        mean = 0.0
        if (counts[0] != counts[1]).any():
            every = (*totals[0].tolist(), *totals[1].tolist())
            mean = math.fsum(every) / sum(numbers)
        ours, theirs = (
            (total - mean * count) / number
            for total, count, number in zip(totals, counts, numbers, strict=True)
        )
        return ours - theirs

    def by_question(self, at: int) -> QuestionDifferences | None:
        """Return how the mean scores of each question differ, None if it is pooled.

        `at` is the place of the score among the names of the metric.
        """
        if self.metric.best is None:
            return None
        ours, theirs = (
            side.totals(self.metric.scores, at)[self.places] / side.counts[self.places]
            for side in (self.first, self.second)
        )
        return question_differences(ours - theirs, self.metric.widest)


def summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sums of statistics, place by place; their order does not matter."""
    if len(rows) == 1:
        return tuple(rows[0])
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))
