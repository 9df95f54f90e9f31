"""Sums of statistics over answers, and their scores and confidence intervals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import sqrt
from typing import Self

from harpia_formats.evaluation.scoring.intervals import (
    LEAST,
    NO_SPREAD,
    ONE_QUESTION,
    ExactSum,
    QuestionMoments,
    few_others_remark,
    joined_remarks,
    remark_of,
    resampled_remark,
    wilson_interval,
)
from harpia_formats.evaluation.scoring.label_totals import LabelTotals
from harpia_formats.evaluation.scoring.metric_score import (
    Group,
    MetricScore,
    OverAnswers,
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import (
    NO_SUCH_SCORE,
    ComputedMetric,
    GroupAnswer,
    Outcome,
    UnreadableOutcome,
    label_pair,
)
from harpia_formats.evaluation.scoring.pooled_answers import (
    PooledAnswers,
    PooledWhole,
    bootstrap_method,
)
from harpia_formats.evaluation.scoring.question_scores import (
    QuestionStore,
    QuestionTotals,
    RepeatedAnswerStore,
)


@dataclass(frozen=True, slots=True)
class WholeAnswers:
    """What is known of the answers of one group or several."""

    #: The sums over questions for each score of each metric that scores answers, and
    #: the scores of questions of the others, by the place of the metric.
    moments: dict[int, list[QuestionMoments]]
    questions: dict[int, list[QuestionTotals]]
    pooled: PooledWhole


class AnswerStore:
    """The outcomes of answers by question and group; to be closed with `close`."""

    def __init__(
        self, metrics: Sequence[ComputedMetric], options: ScoreOptions
    ) -> None:
        #: The number of scores of each metric that scores answers, by its place.
        self._names = {
            at: len(metric.names)
            for at, metric in enumerate(metrics)
            if metric.measure.question is None
        }
        self._scores = QuestionStore(
            [self._names.get(at, 0) for at in range(len(metrics))]
        )
        self._repeated = RepeatedAnswerStore(metrics)
        self._pooled = PooledAnswers(metrics, options)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if a temporary file cannot be written.
        """
        self._scores.add_answers(answers, group)
        self._repeated.add_answers(answers, group)
        self._pooled.add_answers(answers, group)

    def wholes(self, wholes: Sequence[Collection[int]]) -> list[WholeAnswers]:
        """Return what is known of some wholes, each of which is one group or several.

        Raises `SourceError` if a temporary file fails, and `MetricError` if a question
        cannot be scored.
        """
        moments = [self._by_metric(found) for found in self._scores.moments(wholes)]
        first = [{at: mine[0] for at, mine in found.items()} for found in moments]
        pooled = self._pooled.wholes(wholes, first)
        questions = self._repeated.totals(wholes)
        found = zip(moments, questions, pooled, strict=True)
        return [WholeAnswers(*parts) for parts in found]

    def _by_metric(
        self, moments: Sequence[QuestionMoments]
    ) -> dict[int, list[QuestionMoments]]:
        found = iter(moments)
        return {
            at: [next(found) for _ in range(names)] for at, names in self._names.items()
        }

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for store in (self._scores, self._repeated, self._pooled):
            store.close()


_WILSON = "wilson|number:effective|quantile:t|unit:question"


@dataclass(slots=True)
class _MetricTotals:
    """The running totals of one metric."""

    metric: ComputedMetric
    count: int = 0
    unscored: int = 0
    unreadable: int = 0
    sums: list[ExactSum] = field(default_factory=list)
    distributions: list[RunningDistribution] = field(default_factory=list)
    #: The counts of a metric of labels, which has no sums.
    labels: LabelTotals | None = None

    def __post_init__(self) -> None:
        self.distributions = [RunningDistribution() for _ in self.metric.names]
        if self.metric.measure.labels is not None:
            name = self.metric.request.label
            self.labels = LabelTotals(name, self.metric.measure.labels)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of some answers."""
        scored = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        self.unscored += len(outcomes) - len(scored) - outcomes.count(NO_SUCH_SCORE)
        self.count += len(scored)
        if self.metric.measure.reads is not None:
            self.unreadable += sum(isinstance(one, UnreadableOutcome) for one in scored)
        if not scored or self.metric.measure.question is not None:
            return
        if self.labels is not None:
            self.labels.add(filter(None, map(label_pair, scored)))
            return
        columns = zip(*(statistics for statistics, _ in scored), strict=True)
        self.sums = self.sums or [ExactSum() for _ in scored[0][0]]
        for total, column in zip(self.sums, columns, strict=True):
            total.add(column)
        own = zip(*(values for _, values in scored), strict=True)
        for distribution, values in zip(self.distributions, own, strict=True):
            distribution.add([value for value in values if value is not None])

    def merge(self, other: Self) -> None:
        """Add the answers of `other`."""
        self.count += other.count
        self.unscored += other.unscored
        self.unreadable += other.unreadable
        if self.labels is not None and other.labels is not None:
            self.labels.merge(other.labels)
        if other.sums:
            self.sums = self.sums or [ExactSum() for _ in other.sums]
            for total, more in zip(self.sums, other.sums, strict=True):
                total.merge(more)
        both = zip(self.distributions, other.distributions, strict=True)
        for distribution, more_scores in both:
            distribution.merge(more_scores)

    @property
    def unreadable_answers(self) -> int | None:
        """How many answers are wrong since they cannot be read, None if none can be."""
        return None if self.metric.measure.reads is None else self.unreadable

    def values(self) -> tuple[float | None, ...]:
        """Return the scores of all answers so far, each of which counts once."""
        if self.labels is not None:
            return self.labels.values()
        if not self.sums:
            return (None,) * len(self.metric.names)
        return self.metric.measure.scores([total.value for total in self.sums])

    def weighted_values(
        self, at: int, moments: Sequence[QuestionMoments], pooled: PooledWhole
    ) -> tuple[float | None, ...]:
        """Return the scores by which all questions count the same.

        `at` is the place of the metric in `pooled`.
        """
        measure = self.metric.measure
        if measure.is_bounded_mean:
            return tuple(
                value if mine.is_even else mine.mean
                for value, mine in zip(self.values(), moments, strict=True)
            )
        if self.labels is not None and at in pooled.weights:
            return self.labels.values(pooled.weights[at])
        if at in pooled.sums:
            return measure.scores(pooled.sums[at])
        return self.values()


@dataclass(slots=True)
class GroupTotals:
    """The running totals of the answers of one group, by all metrics."""

    key: Mapping[str, str]
    metrics: tuple[ComputedMetric, ...]
    #: The numbers in the store of questions under which its answers are.
    numbers: set[int] = field(default_factory=set)
    records: int = 0
    answers: int = 0
    _totals: list[_MetricTotals] = field(default_factory=list)
    _last: int = -1

    def __post_init__(self) -> None:
        self._totals = [_MetricTotals(metric) for metric in self.metrics]

    def add(self, answers: Sequence[GroupAnswer]) -> None:
        """Add some answers."""
        for answer in answers:
            self.records += answer.record_number != self._last
            self._last = answer.record_number
        self.answers += len(answers)
        columns = zip(*(answer.outcomes for answer in answers), strict=True)
        for totals, outcomes in zip(self._totals, columns, strict=True):
            totals.add(outcomes)

    def merge(self, other: Self) -> None:
        """Add the answers of `other`, which has the same metrics."""
        self.numbers |= other.numbers
        self.records += other.records
        self.answers += other.answers
        for totals, more in zip(self._totals, other._totals, strict=True):
            totals.merge(more)

    def group(self, found: WholeAnswers, options: ScoreOptions) -> Group:
        """Return the scores of the group, of whose answers this was found."""
        return Group(
            self.key,
            self.records,
            self.answers,
            tuple(
                chain.from_iterable(
                    self._question_scores(totals, found.questions[at], options)
                    if at in found.questions
                    else self._scores(at, totals, found, options)
                    for at, totals in enumerate(self._totals)
                )
            ),
        )

    def _scores(
        self,
        place: int,
        totals: _MetricTotals,
        found: WholeAnswers,
        options: ScoreOptions,
    ) -> Iterable[MetricScore]:
        """Yield the scores of the metric at a place with their intervals."""
        measure = totals.metric.measure
        labels = totals.labels
        moments, pooled = found.moments[place], found.pooled
        confusion = None if labels is None else labels.confusion()
        resampled = pooled.intervals.get(place)
        for at, (name, value, of_answers) in enumerate(
            zip(
                totals.metric.names,
                totals.weighted_values(place, moments, pooled),
                totals.values(),
                strict=True,
            )
        ):
            mine = moments[at]
            interval, method, remark = None, "", ""
            if not options.replicates or not mine.questions:
                pass
            elif mine.questions < LEAST:
                remark = ONE_QUESTION
            elif measure.is_bounded_mean:
                interval = wilson_interval(mine, options.level, measure.best)
                method = f"{_WILSON}|level:{options.level!r}"
                remark = remark_of(mine, measure.best)
            elif resampled and (limits := resampled[at].limits) is not None:
                interval, method = limits, bootstrap_method(options)
                alike = NO_SPREAD if limits[0] == limits[1] else ""
                remark = joined_remarks([alike, resampled[at].remark])
                if labels is not None and not remark:
                    weights = pooled.weights.get(place)
                    remark = labels.remark(mine.questions, weights)
                remark = remark or resampled_remark(mine.questions)
                if measure.is_mean and not remark:
                    remark = few_others_remark(mine)
            if value is None and measure.labels is not None and totals.count:
                remark = measure.labels.undefined
            yield MetricScore(
                metric=totals.metric.request.label,
                name=name,
                value=value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=measure.is_mean,
                count=totals.count,
                unscored=totals.unscored,
                unreadable=totals.unreadable_answers,
                interval=interval,
                spread=totals.distributions[at].distribution(),
                method=method,
                questions=mine.questions,
                standard_error=mine.standard_error if measure.is_mean else None,
                remark=remark,
                lower_is_better=measure.lower_is_better,
                confusion=confusion,
                over_answers=_over_answers(totals, of_answers, mine, options),
            )

    def _question_scores(
        self,
        totals: _MetricTotals,
        questions: Sequence[QuestionTotals],
        options: ScoreOptions,
    ) -> Iterable[MetricScore]:
        """Yield the scores of a metric that scores questions, with their intervals."""
        measure = totals.metric.measure
        for name, found in zip(totals.metric.names, questions, strict=True):
            moments = found.moments
            interval, method, remark = None, "", ""
            if options.replicates and moments.questions:
                interval = wilson_interval(moments, options.level, measure.best)
                method = f"{_WILSON}|level:{options.level!r}" if interval else ""
                remark = remark_of(moments, measure.best)
            yield MetricScore(
                metric=totals.metric.request.label,
                name=name,
                value=found.value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=True,
                count=found.answers,
                unscored=totals.unscored + found.left_out_answers,
                unreadable=totals.unreadable_answers,
                interval=interval,
                spread=found.distribution.distribution(),
                method=method,
                questions=moments.questions,
                standard_error=moments.standard_error,
                remark=remark,
                left_out=found.left_out,
            )


def _over_answers(
    totals: _MetricTotals,
    value: float | None,
    moments: QuestionMoments,
    options: ScoreOptions,
) -> OverAnswers | None:
    """Return the score by which each answer counts once, None if it is the same."""
    if moments.is_even:
        return None
    measure, counts = totals.metric.measure, sorted(moments.sums)
    interval, error = None, None
    if measure.is_mean:
        found = moments.over_answers()
        error = None if found.variance is None else sqrt(found.variance)
        if options.replicates and measure.is_bounded:
            interval = wilson_interval(found, options.level, measure.best)
    return OverAnswers(value, interval, error, counts[0], counts[-1])
