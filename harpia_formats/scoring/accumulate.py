"""Sums of statistics over answers, and their scores and confidence intervals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harpia_formats.metrics import Measure
from harpia_formats.metrics.metric import Statistics
from harpia_formats.scoring.bootstrap import LEAST, PoissonBootstrap
from harpia_formats.scoring.scores import (
    ComputedMetric,
    Group,
    MetricScore,
    ScoreDistribution,
)

#: The statistics and the scores of one answer by one metric, or why it has none.
Outcome = tuple[Statistics, tuple[float | None, ...]] | str

#: A text that every metric can score.
_ANY = "1 2 3 4 5 6"


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    return len(measure.statistics(_ANY, [_ANY]))


def zero_outcome(measure: Measure, references: Sequence[str]) -> Outcome:
    """Return the outcome of a missing answer that counts as wrong.

    It is 0 by a mean, and that of an empty text by a metric that pools its counts.
    """
    if measure.is_mean:
        zeros = (0.0,) * len(measure.names)
        return (*zeros, 1.0), zeros
    statistics = measure.statistics("", references)
    return statistics, measure.scores(statistics)


@dataclass(slots=True)
class _MetricTotals:
    """The running totals of one metric."""

    measuring: ComputedMetric
    count: int = 0
    unscored: int = 0
    sums: list[float] = field(default_factory=list)
    spreads: list[ScoreDistribution] = field(default_factory=list)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of some answers."""
        scored = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        self.unscored += len(outcomes) - len(scored)
        self.count += len(scored)
        if not scored:
            return
        found = [
            sum(column) for column in zip(*(one for one, _ in scored), strict=True)
        ]
        before = self.sums or [0.0] * len(found)
        self.sums = [a + b for a, b in zip(before, found, strict=True)]
        own = zip(*(values for _, values in scored), strict=True)
        spreads = self.spreads or [ScoreDistribution()] * len(self.measuring.names)
        self.spreads = [
            _spread(spread, [value for value in values if value is not None])
            for spread, values in zip(spreads, own, strict=True)
        ]

    def scores(
        self, intervals: Sequence[tuple[float, float] | None]
    ) -> tuple[MetricScore, ...]:
        """Return the scores of all answers so far, each with its interval."""
        measure, names = self.measuring.measure, self.measuring.names
        values = measure.scores(self.sums) if self.sums else (None,) * len(names)
        spreads = self.spreads or [ScoreDistribution()] * len(names)
        return tuple(
            MetricScore(
                metric=self.measuring.request.label,
                name=name,
                value=value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=measure.is_mean,
                count=self.count,
                unscored=self.unscored,
                interval=interval,
                spread=spread,
            )
            for name, value, interval, spread in zip(
                names, values, intervals, spreads, strict=True
            )
        )


def _spread(spread: ScoreDistribution, values: list[float]) -> ScoreDistribution:
    if not values:
        return spread
    ends = [end for end in (spread.minimum, spread.maximum) if end is not None]
    count, total = len(values), math.fsum(values)
    mean = total / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    if spread.count:
        # Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for
        # Computing Sample Variances, 1979.
        apart = mean - spread.sum / spread.count
        both = spread.count + count
        squares += spread.squares + apart * apart * spread.count * count / both
    return ScoreDistribution(
        spread.count + count,
        spread.sum + total,
        spread.sum_squares + math.fsum(value * value for value in values),
        squares,
        min(*values, *ends) if len(values) + len(ends) > 1 else values[0],
        max(*values, *ends) if len(values) + len(ends) > 1 else values[0],
    )


@dataclass(slots=True)
class GroupTotals:
    """The running totals of the answers of one group, by all metrics."""

    key: Mapping[str, str]
    measuring: tuple[ComputedMetric, ...]
    #: None if intervals are not requested or not available.
    resampling: PoissonBootstrap | None
    #: The number of statistics of each metric.
    widths: tuple[int, ...] = ()
    records: int = 0
    answers: int = 0
    _sums: list[_MetricTotals] = field(default_factory=list)
    _last: int = -1
    #: The statistics of the last record, to which more answers may belong.
    _row_of_last: list[float] = field(default_factory=list)
    #: For each metric the number of records with a scored answer, and the last one.
    _scored: list[int] = field(default_factory=list)
    _last_scored: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sums = [_MetricTotals(metric) for metric in self.measuring]
        self._scored = [0] * len(self.measuring)
        self._last_scored = [-1] * len(self.measuring)

    def add(self, answers: Sequence[tuple[int, tuple[Outcome, ...]]]) -> None:
        """Add answers: the record number and the outcomes of each."""
        if self.resampling is not None:
            self._resample(answers)
        for record, _ in answers:
            self.records += record != self._last
            self._last = record
        self.answers += len(answers)
        columns = zip(*(outcomes for _, outcomes in answers), strict=True)
        for sums, outcomes in zip(self._sums, columns, strict=True):
            sums.add(outcomes)

    def _resample(self, answers: Sequence[tuple[int, tuple[Outcome, ...]]]) -> None:
        """Add the complete records to the bootstrap, which draws records."""
        numbers: list[int] = []
        rows: list[list[float]] = []
        last = self._last
        for record, outcomes in answers:
            row = list(self._row(outcomes))
            if record == last:
                row = [a + b for a, b in zip(self._row_of_last, row, strict=True)]
            elif last >= 0:
                numbers.append(last)
                rows.append(self._row_of_last)
            last, self._row_of_last = record, row
            for at, outcome in enumerate(outcomes):
                if not isinstance(outcome, str) and self._last_scored[at] != record:
                    self._last_scored[at] = record
                    self._scored[at] += 1
        if rows and self.resampling is not None:
            self.resampling.add_numbered(numbers, rows)

    def _row(self, outcomes: tuple[Outcome, ...]) -> Iterable[float]:
        """Yield the statistics of all metrics, zeros where an answer has none."""
        for outcome, width in zip(outcomes, self.widths, strict=True):
            yield from (0.0,) * width if isinstance(outcome, str) else outcome[0]

    def group(self, level: float) -> Group:
        """Return the scores of the group, with intervals at `level` (0 to 1)."""
        intervals = self._intervals(level)
        scores = []
        for sums in self._sums:
            count = len(sums.measuring.names)
            scores.append(sums.scores(intervals[:count]))
            intervals = intervals[count:]
        return Group(
            self.key, self.records, self.answers, tuple(chain.from_iterable(scores))
        )

    def _intervals(self, level: float) -> list[tuple[float, float] | None]:
        if self.resampling is not None and self._row_of_last:
            self.resampling.add_numbered([self._last], [self._row_of_last])
            self._row_of_last = []
        if self.resampling is None:
            return [None] * sum(len(metric.names) for metric in self.measuring)
        found = self.resampling.interval(self._all_scores, level)
        counts = [
            count
            for count, metric in zip(self._scored, self.measuring, strict=True)
            for _ in metric.names
        ]
        return [
            limits if count >= LEAST else None
            for limits, count in zip(found, counts, strict=True)
        ]

    def _all_scores(self, sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of all metrics, whose statistics are concatenated."""
        found: list[float | None] = []
        at = 0
        for metric, width in zip(self.measuring, self.widths, strict=True):
            found += metric.measure.scores(sums[at : at + width])
            at += width
        return tuple(found)
