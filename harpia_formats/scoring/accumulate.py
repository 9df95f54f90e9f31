"""Sums of statistics over answers, and their scores and confidence intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

from harpia_formats.metrics import Measure
from harpia_formats.metrics.metric import Statistics
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.exact_sum import ExactSum
from harpia_formats.scoring.intervals import (
    LEAST,
    ONE_QUESTION,
    QUANTA,
    QuestionMoments,
    remark_of,
    wilson_interval,
)
from harpia_formats.scoring.scores import (
    ComputedMetric,
    Group,
    MetricScore,
    ScoreDistribution,
)

#: The statistics and the scores of one answer by one metric, or why it has none.
Outcome = tuple[Statistics, tuple[float | None, ...]] | str
Interval = tuple[float, float] | None

#: A text that every metric can score.
_ANY = "1 2 3 4 5 6"
_WILSON = "wilson|number:effective|quantile:t|unit:question"
_BOOTSTRAP = "bootstrap|limits:percentiles|unit:question"


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    return len(measure.statistics(_ANY, [_ANY]))


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """One answer of a group, with its outcome by each metric."""

    #: The number of its record in the run.
    record_number: int
    #: The digest of its question.
    question: bytes
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class _Distribution:
    """The running distribution of one score over single answers."""

    count: int = 0
    total: ExactSum = field(default_factory=ExactSum)
    #: Sums of the scores and of their squares, in multiples of 1/QUANTA.
    quanta: int = 0
    squares: int = 0
    minimum: float | None = None
    maximum: float | None = None

    def add(self, values: Sequence[float]) -> None:
        """Add the scores of some answers."""
        if not values:
            return
        ends = [end for end in (self.minimum, self.maximum) if end is not None]
        self.minimum, self.maximum = min((*ends, *values)), max((*ends, *values))
        self.count += len(values)
        self.total.add(values)
        whole = [round(value * QUANTA) for value in values]
        self.quanta += sum(whole)
        self.squares += sum([value * value for value in whole])

    def distribution(self) -> ScoreDistribution:
        """Return the distribution so far."""
        if not self.count:
            return ScoreDistribution()
        spread = self.squares * self.count - self.quanta**2
        return ScoreDistribution(
            self.count,
            self.total.value,
            self.squares / QUANTA**2,
            spread / (self.count * QUANTA) ** 2,
            self.minimum,
            self.maximum,
        )


@dataclass(slots=True)
class _MetricTotals:
    """The running totals of one metric."""

    metric: ComputedMetric
    count: int = 0
    unscored: int = 0
    sums: list[ExactSum] = field(default_factory=list)
    distributions: list[_Distribution] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.distributions = [_Distribution() for _ in self.metric.names]

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of some answers."""
        scored = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        self.unscored += len(outcomes) - len(scored)
        self.count += len(scored)
        if not scored:
            return
        columns = zip(*(statistics for statistics, _ in scored), strict=True)
        self.sums = self.sums or [ExactSum() for _ in scored[0][0]]
        for total, column in zip(self.sums, columns, strict=True):
            total.add(column)
        own = zip(*(values for _, values in scored), strict=True)
        for distribution, values in zip(self.distributions, own, strict=True):
            distribution.add([value for value in values if value is not None])

    def values(self) -> tuple[float | None, ...]:
        """Return the scores of all answers so far."""
        if not self.sums:
            return (None,) * len(self.metric.names)
        return self.metric.measure.scores([total.value for total in self.sums])


@dataclass(slots=True)
class ResampledMetrics:
    """The bootstrap of the metrics that have no interval by a formula."""

    metrics: tuple[ComputedMetric, ...]
    bootstrap: PoissonBootstrap
    _places: list[int] = field(default_factory=list)
    _widths: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places = [
            at
            for at, metric in enumerate(self.metrics)
            if not metric.measure.is_bounded_mean
        ]
        self._widths = [
            statistics_width(self.metrics[at].measure) for at in self._places
        ]

    def add(self, answers: Sequence[GroupAnswer]) -> None:
        """Add answers, with zeros where a metric has no score."""
        if not self._places:
            return
        keys = [answer.question for answer in answers]
        self.bootstrap.add(keys, [list(self._row(answer)) for answer in answers])

    def _row(self, answer: GroupAnswer) -> Iterable[float]:
        for at, width in zip(self._places, self._widths, strict=True):
            outcome = answer.outcomes[at]
            yield from (0.0,) * width if isinstance(outcome, str) else outcome[0]

    def intervals(self, level: float) -> dict[int, list[Interval]]:
        """Return the intervals of each resampled metric by its place."""
        found = iter(self.bootstrap.intervals(self._scores, level))
        return {
            at: [next(found, None) for _ in self.metrics[at].names]
            for at in self._places
        }

    def _scores(self, sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of all metrics, whose statistics are concatenated."""
        found: list[float | None] = []
        start = 0
        for at, width in zip(self._places, self._widths, strict=True):
            found += self.metrics[at].measure.scores(sums[start : start + width])
            start += width
        return tuple(found)

    def method(self, level: float) -> str:
        """Return the method and parameters of the intervals."""
        return (
            f"{_BOOTSTRAP}|level:{level!r}|replicates:{self.bootstrap.replicates}"
            f"|seed:{self.bootstrap.seed}"
        )


@dataclass(slots=True)
class GroupTotals:
    """The running totals of the answers of one group, by all metrics."""

    key: Mapping[str, str]
    metrics: tuple[ComputedMetric, ...]
    #: None if intervals are not requested.
    resampled: ResampledMetrics | None
    #: The number of the group in the run.
    number: int = 0
    records: int = 0
    answers: int = 0
    _totals: list[_MetricTotals] = field(default_factory=list)
    _last: int = -1

    def __post_init__(self) -> None:
        self._totals = [_MetricTotals(metric) for metric in self.metrics]

    def add(self, answers: Sequence[GroupAnswer]) -> None:
        """Add some answers."""
        if self.resampled is not None:
            self.resampled.add(answers)
        for answer in answers:
            self.records += answer.record_number != self._last
            self._last = answer.record_number
        self.answers += len(answers)
        columns = zip(*(answer.outcomes for answer in answers), strict=True)
        for totals, outcomes in zip(self._totals, columns, strict=True):
            totals.add(outcomes)

    def group(self, level: float, moments: Sequence[QuestionMoments]) -> Group:
        """Return the scores of the group, with intervals at `level` (0 to 1).

        `moments` are the sums over questions for each score of each metric, empty if
        they are not known.
        """
        resampled = {} if self.resampled is None else self.resampled.intervals(level)
        found = iter(moments or repeat(QuestionMoments()))
        return Group(
            self.key,
            self.records,
            self.answers,
            tuple(
                chain.from_iterable(
                    self._scores(
                        totals,
                        [next(found) for _ in totals.metric.names],
                        resampled.get(at),
                        level,
                    )
                    for at, totals in enumerate(self._totals)
                )
            ),
        )

    def _scores(
        self,
        totals: _MetricTotals,
        moments: Sequence[QuestionMoments],
        resampled: Sequence[Interval] | None,
        level: float,
    ) -> Iterable[MetricScore]:
        """Yield the scores of one metric with their intervals."""
        measure = totals.metric.measure
        for at, (name, value) in enumerate(
            zip(totals.metric.names, totals.values(), strict=True)
        ):
            mine = moments[at]
            interval, method, remark = None, "", ""
            if self.resampled is None or not mine.questions:
                pass
            elif mine.questions < LEAST:
                remark = ONE_QUESTION
            elif measure.is_bounded_mean:
                interval = wilson_interval(mine, level, measure.best)
                method = f"{_WILSON}|level:{level!r}"
                remark = remark_of(mine, measure.best)
            elif resampled is not None and resampled[at] is not None:
                interval, method = resampled[at], self.resampled.method(level)
            yield MetricScore(
                metric=totals.metric.request.label,
                name=name,
                value=value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=measure.is_mean,
                count=totals.count,
                unscored=totals.unscored,
                interval=interval,
                spread=totals.distributions[at].distribution(),
                method=method,
                questions=mine.questions,
                standard_error=mine.standard_error if measure.is_mean else None,
                remark=remark,
            )
