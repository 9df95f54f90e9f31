"""The scores of summed statistics, by which all questions count the same.

Each answer is weighted by 1 / answers of its question. The scores are those of pooled
metrics, of metrics of labels, and of means without bounds, which have no interval by a
formula but that of the bootstrap by question. Where all questions have equally many
answers, each answer counts once.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum, lcm

from harpia_formats.evaluation.metrics.label_counts import LabelPair, LabelScores
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.measures.label_totals import (
    LabelBootstrap,
    PairCounts,
    label_values,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    Answers,
    Questions,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    PoissonBootstrap,
    Resampled,
    Scores,
    Values,
    resampled,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    ExactSum,
    QuestionMoments,
)

#: The most units of which the weights of answers with labels are multiples.
_UNITS = 2**24


@dataclass(frozen=True, slots=True)
class PooledScores:
    """The scores of one metric by which all questions count the same."""

    #: The intervals of the scores, none without replicates.
    intervals: list[Resampled]
    #: The scores, None if each answer counts once.
    values: Values | None
    #: The sums of the weights of answers by pair of labels, if these are unequal.
    weights: PairCounts | None = None


@dataclass(slots=True)
class PooledRows:
    """The sums of the statistics of one metric over some questions, with replicates."""

    scores: Scores
    #: Whether all questions have equally many answers.
    is_even: bool
    bootstrap: PoissonBootstrap
    #: So many rows are resampled together.
    most: int
    _sums: list[ExactSum] = field(default_factory=list)
    _keys: list[bytes] = field(default_factory=list)
    _rows: list[Statistics] = field(default_factory=list)

    def add(self, questions: Questions) -> None:
        """Add questions: a row for each answer, or the mean of those of a question."""
        for key, answers in questions.items():
            rows = answers.elements() if self.is_even else [_mean(answers)]
            self._rows += rows
            self._keys += [key] * (len(self._rows) - len(self._keys))
        if len(self._rows) >= self.most:
            self._settle()

    def _settle(self) -> None:
        """Add the rows that wait to the sums and to the replicates."""
        if self._rows and not self.is_even:
            self._sums = self._sums or [ExactSum() for _ in self._rows[0]]
            for total, column in zip(
                self._sums, zip(*self._rows, strict=True), strict=True
            ):
                total.add(column)
        self.bootstrap.add(self._keys, self._rows)
        self._keys, self._rows = [], []

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of the only metric."""
        self._settle()
        values = None
        if self._sums:
            values = self.scores([total.value for total in self._sums])
        replicates = self.bootstrap.replicated(self.scores)
        return [PooledScores(resampled(replicates, level), values)]


def _mean(answers: Answers) -> Statistics:
    """Return the mean of the statistics of the answers to a question."""
    count = answers.total()
    if count == 1:
        (only,) = answers
        return only
    columns = zip(*answers.elements(), strict=True)
    return tuple(fsum(column) / count for column in columns)


@dataclass(slots=True)
class PooledLabels:
    """The weights of the answers with each pair of labels, and their replicates."""

    #: The metrics, which read the same labels.
    metrics: Sequence[LabelScores]
    #: The labels by their numbers.
    names: Sequence[str]
    moments: QuestionMoments
    bootstrap: LabelBootstrap
    #: So many answers are resampled together.
    most: int
    #: Empty if all questions have equally many answers, so that each counts once.
    weights: dict[LabelPair, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )
    _units: int = 1
    _keys: list[bytes] = field(default_factory=list)
    _rows: list[tuple[LabelPair, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._units = min(lcm(*self.moments.sums), _UNITS)

    def add(self, questions: Questions) -> None:
        """Add the answers to some questions."""
        is_even = self.moments.is_even
        for key, answers in questions.items():
            total = answers.total()
            unit = 1 if is_even else max(round(self._units / total), 1)
            for numbers, count in answers.items():
                pair = LabelPair(*(self.names[int(number)] for number in numbers))
                if not is_even:
                    self.weights[pair] += Fraction(count, total)
                self._keys.append(key)
                self._rows.append((pair, unit * count))
        if len(self._rows) >= self.most:
            self._settle()

    def _settle(self) -> None:
        """Add the answers that wait to the replicates."""
        self.bootstrap.add(self._keys, self._rows)
        self._keys, self._rows = [], []

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of each metric."""
        self._settle()
        replicates = list(self.bootstrap.replicated(self.metrics))
        weights = self.weights or None
        return [
            PooledScores(
                resampled((row[at] for row in replicates), level),
                None if weights is None else label_values(metric, weights),
                weights,
            )
            for at, metric in enumerate(self.metrics)
        ]
