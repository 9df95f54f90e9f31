"""The answers of systems to the same questions, by one metric."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from harpia_formats.evaluation.scoring.number_stores import (
    MeanRows,
    QuestionRows,
    SpooledRows,
    parts_of,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import Scores, Values, np
from harpia_formats.evaluation.scoring.significance.intervals import ExactSum

#: What rounding may change in the mean of equal numbers.
_SUMS_ROUNDING = 1e-12


@dataclass(slots=True)
class QuestionSums:
    """The sums of the statistics of one system over its answers to each question."""

    #: A row for each question, zeros if no answer is scored. `MetricAnswers` makes
    #: means of the sums if the numbers of answers differ.
    rows: QuestionRows
    #: For each question the number of scored answers, and of those without a score.
    counts: Any
    unscored: Any
    #: For each question whether the system has it.
    answered: Any
    #: The sums of the scores of the answers to each question, once they are needed.
    _totals: SpooledRows | None = None
    #: The sums of the statistics over some questions, by a bit for each question.
    _sums: dict[bytes, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of_answers(
        cls, answers: Sequence[Sequence[Sequence[float]]], width: int
    ) -> Self:
        """Return the sums of the statistics of answers, given for each question."""
        rows = np.zeros((len(answers), width))
        for place, mine in enumerate(answers):
            if mine:
                rows[place] = summed(mine)
        counts = np.array([len(mine) for mine in answers], dtype=np.int64)
        return cls(SpooledRows(rows), counts, np.zeros_like(counts), counts > 0)

    def totals(self, scores: Scores, at: int) -> Any:
        """Return the sum of a score over the answers to each question.

        `at` is the place of the score among the names of a metric that is a mean.
        """
        count = len(self.counts)
        if self._totals is None:
            found = np.zeros((count, len(scores(()))))
            for part in parts_of(count):
                rows = self.rows.part(part).tolist()
                found[part] = [
                    [(score or 0.0) * number for score in scores(row)]
                    for row, number in zip(
                        rows, self.counts[part].tolist(), strict=True
                    )
                ]
            self._totals = SpooledRows(found)
        return self._totals.part(slice(0, count))[:, at]

    def sums(self, counted: Any) -> tuple[float, ...]:
        """Return the sum of each statistic over the questions that are counted."""
        key = np.packbits(counted).tobytes()
        if key not in self._sums:
            totals = [ExactSum() for _ in range(self.rows.width)]
            for part in parts_of(len(counted)):
                rows = self.rows.part(part)[counted[part]]
                for total, column in zip(totals, rows.T.tolist(), strict=True):
                    total.add(column)
            self._sums[key] = tuple(total.value for total in totals)
        return self._sums[key]


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

    def __post_init__(self) -> None:
        """Let all questions count the same if they have unequal numbers of answers."""
        counts = [np.unique(side.counts[side.counts > 0]) for side in self.systems]
        if len(np.unique(np.concatenate([*counts, [0]]))) > 2:  # noqa: PLR2004 - 0 and one more
            self.systems = [
                replace(side, rows=MeanRows(side.rows, side.counts))
                for side in self.systems
            ]

    @property
    def names(self) -> int:
        """The number of scores."""
        return len(self.scores(()))

    def pair(self, one: int, other: int) -> "PairedAnswers":
        """Return the answers of two systems, by their places in `systems`."""
        return PairedAnswers(self, (one, other))


@dataclass(slots=True)
class PairedAnswers:
    """The answers of two systems to the questions for which both have a score."""

    metric: MetricAnswers
    #: The places of both systems.
    systems: tuple[int, int]
    #: The number of these questions.
    questions: int = field(init=False)

    def __post_init__(self) -> None:
        self.questions = int(self.counted.sum())

    @property
    def _sides(self) -> tuple[QuestionSums, QuestionSums]:
        one, other = self.systems
        return self.metric.systems[one], self.metric.systems[other]

    @property
    def counted(self) -> Any:
        """For each question whether both systems have a score."""
        # Not held: there are many pairs of systems.
        first, second = self._sides
        return (first.counts > 0) & (second.counts > 0)

    @property
    def places(self) -> Any:
        """The places of these questions among all questions."""
        return np.flatnonzero(self.counted)

    def unscored(self) -> tuple[int, int]:
        """Return the number of answers without a score to questions that both have."""
        first, second = self._sides
        both = first.answered & second.answered
        return int(first.unscored[both].sum()), int(second.unscored[both].sum())

    def values(self) -> tuple[Values, Values]:
        """Return the scores of both systems over all questions."""
        scores = self.metric.scores
        if not self.questions:
            return scores(()), scores(())
        first, second = self._sides
        counted = self.counted
        return scores(first.sums(counted)), scores(second.sums(counted))

    def differences(self) -> Values:
        """Return the difference of each score, None for one that a system lacks."""
        return tuple(
            None if one is None or other is None else one - other
            for one, other in zip(*self.values(), strict=True)
        )

    def remark(self) -> str:
        """Return why an interval is approximate by either system, "" if it is not."""
        find, counted = self.metric.remark, self.counted
        if find is None or not self.questions:
            return ""
        one, other = (find(side.sums(counted), self.questions) for side in self._sides)
        return one or other

    def differing(self) -> int:
        """Return on how many questions the systems have other statistics."""
        counted, found = self.counted, 0
        for part in parts_of(len(counted)):
            ours, theirs = (side.rows.part(part) for side in self._sides)
            differ = ~np.isclose(ours, theirs, rtol=_SUMS_ROUNDING, atol=0)
            found += int(differ.any(axis=1)[counted[part]].sum())
        return found

    def parts(self, at: int) -> Any:
        """Return what each question adds to the difference of a score, as an array.

        `at` is the place of the score among the names of the metric. The sum of the
        parts is the difference of the means of the questions' means. Returns None for a
        pooled metric.
        """
        if self.metric.best is None:
            return None
        places = self.places
        ours, theirs = (
            side.totals(self.metric.scores, at)[places]
            / (side.counts[places].astype(np.float64) * self.questions)
            for side in self._sides
        )
        return ours - theirs


def summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sums of statistics, place by place; their order does not matter."""
    if len(rows) == 1:
        return tuple(rows[0])
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))
