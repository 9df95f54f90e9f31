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
from harpia_formats.evaluation.scoring.significance.bootstrap import Scores
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
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

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
        if self._totals is None:
            import numpy as np  # noqa: PLC0415 - numpy is in the extra score

            found = np.zeros((len(self.counts), len(scores(()))))
            for part in parts_of(len(self.counts)):
                found[part] = [
                    [(score or 0.0) * count for score in scores(row)]
                    for row, count in zip(
                        self.rows.part(part).tolist(),
                        self.counts[part].tolist(),
                        strict=True,
                    )
                ]
            self._totals = SpooledRows(found)
        return self._totals.part(slice(0, len(self.counts)))[:, at]

    def sums(self, counted: Any) -> tuple[float, ...]:
        """Return the sum of each statistic over the questions that are counted."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

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
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        counts = [np.unique(side.counts[side.counts > 0]) for side in self.systems]
        if len(np.unique(np.concatenate([*counts, [0]]))) > 2:  # noqa: PLR2004 - 0 and one more
            self.systems = [
                replace(side, rows=MeanRows(side.rows, side.counts))
                for side in self.systems
            ]

    def pair(self, one: int, other: int) -> "PairedAnswers":
        """Return the answers of two systems, by their places in `systems`."""
        return PairedAnswers(self, self.systems[one], self.systems[other])


@dataclass(slots=True)
class PairedAnswers:
    """The answers of two systems to the questions for which both have a score."""

    metric: MetricAnswers
    first: QuestionSums
    second: QuestionSums
    #: The number of these questions.
    questions: int = field(init=False)
    _differing: int | None = None

    def __post_init__(self) -> None:
        self.questions = int(self.counted.sum())

    @property
    def counted(self) -> Any:
        """For each question whether both systems have a score."""
        # Not held: there are many pairs of systems.
        return (self.first.counts > 0) & (self.second.counts > 0)

    @property
    def places(self) -> Any:
        """The places of these questions among all questions."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        return np.flatnonzero(self.counted)

    def unscored(self) -> tuple[int, int]:
        """Return the number of answers without a score to questions that both have."""
        both = self.first.answered & self.second.answered
        return int(self.first.unscored[both].sum()), int(
            self.second.unscored[both].sum()
        )

    def values(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return the scores of both systems over all questions."""
        scores = self.metric.scores
        if not self.questions:
            return scores(()), scores(())
        counted = self.counted
        return scores(self.first.sums(counted)), scores(self.second.sums(counted))

    def difference(self, at: int) -> float | None:
        """Return the difference of the score at a place, None if a system lacks it."""
        one, other = (found[at] for found in self.values())
        return None if one is None or other is None else one - other

    def remark(self) -> str:
        """Return why an interval is approximate by either system, "" if it is not."""
        find = self.metric.remark
        if find is None or not self.questions:
            return ""
        counted = self.counted
        one, other = (
            find(side.sums(counted), self.questions)
            for side in (self.first, self.second)
        )
        return one or other

    def differing(self) -> int:
        """Return on how many questions the systems have other statistics."""
        if self._differing is None:
            import numpy as np  # noqa: PLC0415 - numpy is in the extra score

            counted, found = self.counted, 0
            for part in parts_of(len(counted)):
                ours, theirs = (
                    side.rows.part(part) for side in (self.first, self.second)
                )
                differ = ~np.isclose(ours, theirs, rtol=_SUMS_ROUNDING, atol=0)
                found += int(differ.any(axis=1)[counted[part]].sum())
            self._differing = found
        return self._differing

    def parts(self, at: int) -> Any:
        """Return what each question adds to the difference of a score, as an array.

        `at` is the place of the score among the names of the metric. The sum of the
        parts is the difference of the means of the questions' means. Returns None for a
        pooled metric.
        """
        return self._differences(at, self.questions)

    def _differences(self, at: int, questions: int) -> Any:
        """Return the difference of a score of each question, as a mean of so many."""
        if self.metric.best is None:
            return None
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        places = self.places
        ours, theirs = (
            side.totals(self.metric.scores, at)[places]
            / (side.counts[places].astype(np.float64) * questions)
            for side in (self.first, self.second)
        )
        return ours - theirs


def summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sums of statistics, place by place; their order does not matter."""
    if len(rows) == 1:
        return tuple(rows[0])
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))
