"""Sums of statistics over answers, and their scores and confidence intervals."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from math import sqrt
from typing import Self

from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import Measure, Statistics
from harpia_formats.evaluation.scoring.measures.label_totals import (
    LabelBootstrap,
    confusion_of,
    count_labels,
    label_values,
    labels_remark,
)
from harpia_formats.evaluation.scoring.measures.metric_score import (
    NONE_LEFT_OUT,
    Group,
    MetricScore,
    OverAnswers,
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.measures.outcomes import (
    NO_SUCH_SCORE,
    ComputedMetric,
    GroupAnswer,
    Outcome,
    UnreadableOutcome,
    label_pair,
    numbers_of,
    statistics_width,
)
from harpia_formats.evaluation.scoring.measures.pooled_answers import (
    PooledLabels,
    PooledRows,
    PooledScores,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    QuestionTotals,
    RecordScores,
    RowStore,
    add_moments,
    add_questions,
)
from harpia_formats.evaluation.scoring.number_stores import ENTRIES_HELD
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance.bootstrap import PoissonBootstrap
from harpia_formats.evaluation.scoring.significance.intervals import (
    LEAST,
    NO_SPREAD,
    ONE_QUESTION,
    ExactSum,
    QuestionMoments,
    few_others_remark,
    joined_remarks,
    lacking_remark,
    remark_of,
    resampled_remark,
    wilson_interval,
)

#: Rows of statistics that wait to be resampled together, of all wholes.
_WAITING = 4096


@dataclass(slots=True)
class WholeAnswers:
    """What is known of the answers of one group or several, by the place of a metric.

    A metric of questions has totals, and any other one moments.
    """

    #: The sums over questions for each score.
    moments: list[list[QuestionMoments]]
    totals: dict[int, list[QuestionTotals]] = field(default_factory=dict)
    #: The scores of summed statistics.
    pooled: dict[int, PooledScores] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Statistics:
    """The statistics of answers, of which some metrics read the same."""

    rows: RowStore
    #: The places of the metrics: of one, or of all metrics of labels with one reading.
    places: list[int]
    #: The numbers of labels, which are the statistics of a metric of labels.
    labels: dict[str, int]


class AnswerStore:
    """The outcomes of answers by question and group; to be closed with `close`."""

    def __init__(
        self,
        metrics: Sequence[ComputedMetric],
        options: ScoreOptions,
        held: int = ENTRIES_HELD,
    ) -> None:
        self._metrics, self._options = metrics, options
        #: The number of scores of each metric, 0 for one that scores questions.
        self._names = [
            len(metric.names) if metric.measure.question is None else 0
            for metric in metrics
        ]
        scores = RecordScores(self._names)
        self._records = RowStore(scores.numbers, scores.rows, held)
        #: What there is besides of metrics that are no means between bounds, by the
        #: place of the metric or by the reading of labels.
        self._statistics: dict[object, _Statistics] = {}
        for at, metric in enumerate(metrics):
            measure = metric.measure
            of_labels = measure.labels
            if measure.is_bounded_mean and measure.scores_answers:
                continue
            key = at if of_labels is None else of_labels.reading
            if key in self._statistics:
                self._statistics[key].places.append(at)
                continue
            labels: dict[str, int] = {}
            width = statistics_width(measure)
            rows_of = partial(_statistics_rows, at, labels)
            rows = RowStore(f"{width}d", rows_of, held)
            self._statistics[key] = _Statistics(rows, [at], labels)

    def _all_rows(self) -> Iterator[RowStore]:
        yield self._records
        yield from (one.rows for one in self._statistics.values())

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if a temporary file cannot be written.
        """
        for rows in self._all_rows():
            rows.add_answers(answers, group)

    def wholes(self, wholes: Sequence[Collection[int]]) -> list[WholeAnswers]:
        """Return what is known of some wholes, each of which is one group or several.

        Raises `SourceError` if a temporary file fails, and `MetricError` if a question
        cannot be scored.
        """
        moments = [[QuestionMoments() for _ in range(sum(self._names))] for _ in wholes]
        self._records.read(wholes, [partial(add_moments, mine) for mine in moments])
        found = [
            WholeAnswers([[*islice(mine, names)] for names in self._names])
            for mine in map(iter, moments)
        ]
        for one in self._statistics.values():
            question = self._metrics[one.places[0]].measure.question
            if question is None:
                self._add_pooled(one, wholes, found)
                continue
            totals = [[QuestionTotals() for _ in question.least] for _ in wholes]
            receivers = [partial(add_questions, mine, question) for mine in totals]
            one.rows.read(wholes, receivers)
            for whole, mine in zip(found, totals, strict=True):
                whole.totals[one.places[0]] = mine
        return found

    def _add_pooled(
        self,
        statistics: _Statistics,
        wholes: Sequence[Collection[int]],
        found: Sequence[WholeAnswers],
    ) -> None:
        """Add the scores of summed statistics, and their intervals."""
        most = _WAITING // max(len(wholes), 1)
        pooled = [self._pooled(statistics, whole, most) for whole in found]
        statistics.rows.read(wholes, [one.add for one in pooled])
        for whole, mine in zip(found, pooled, strict=True):
            of_metrics = mine.found(self._options.level)
            for at, of_metric in zip(statistics.places, of_metrics, strict=True):
                whole.pooled[at] = of_metric

    def _pooled(
        self, statistics: _Statistics, whole: WholeAnswers, most: int
    ) -> PooledRows | PooledLabels:
        """Return what adds up the statistics of a whole, so many rows at a time."""
        places, options = statistics.places, self._options
        moments = whole.moments[places[0]][0]
        measures = [self._metrics[at].measure for at in places]
        metrics = [one.labels for one in measures if one.labels is not None]
        if metrics:
            names = list(statistics.labels)
            labels = LabelBootstrap(
                metrics[0].reading, options.replicates, options.seed
            )
            return PooledLabels(metrics, names, moments, labels, most)
        rows = PoissonBootstrap(options.replicates, options.seed)
        return PooledRows(measures[0].scores, moments.is_even, rows, most)

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for rows in self._all_rows():
            rows.close()


def _statistics_rows(
    at: int, labels: dict[str, int], answers: Sequence[GroupAnswer]
) -> Iterator[tuple[bytes, Statistics]]:
    """Yield the statistics of answers by the metric at a place, labels as numbers."""
    for answer in answers:
        outcome = answer.outcomes[at]
        pair, numbers = label_pair(outcome), numbers_of(outcome)
        if pair is not None:
            numbers = tuple(labels.setdefault(label, len(labels)) for label in pair)
        if numbers is not None:
            yield answer.question, numbers


_WILSON = "wilson|number:effective|quantile:t|unit:question"
_BOOTSTRAP = "bootstrap|limits:percentiles|unit:question"


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
    labels: Counter[LabelPair] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.distributions = [RunningDistribution() for _ in self.metric.names]

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of some answers."""
        scored = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        self.unscored += len(outcomes) - len(scored) - outcomes.count(NO_SUCH_SCORE)
        self.count += len(scored)
        if self.metric.measure.reads is not None:
            self.unreadable += sum(isinstance(one, UnreadableOutcome) for one in scored)
        if not scored or self.metric.measure.question is not None:
            return
        if self.metric.measure.labels is not None:
            self._add_labels(filter(None, map(label_pair, scored)))
            return
        columns = zip(*(statistics for statistics, _ in scored), strict=True)
        self.sums = self.sums or [ExactSum() for _ in scored[0][0]]
        for total, column in zip(self.sums, columns, strict=True):
            total.add(column)
        own = zip(*(values for _, values in scored), strict=True)
        for distribution, values in zip(self.distributions, own, strict=True):
            distribution.add([value for value in values if value is not None])

    def _add_labels(self, pairs: Iterable[LabelPair]) -> None:
        count_labels(self.metric.request.label, self.labels, pairs)

    def merge(self, other: Self) -> None:
        """Add the answers of `other`."""
        self.count += other.count
        self.unscored += other.unscored
        self.unreadable += other.unreadable
        self._add_labels(other.labels)
        if other.sums:
            self.sums = self.sums or [ExactSum() for _ in other.sums]
            for total, more in zip(self.sums, other.sums, strict=True):
                total.merge(more)
        both = zip(self.distributions, other.distributions, strict=True)
        for distribution, more_scores in both:
            distribution.merge(more_scores)

    def values(self) -> tuple[float | None, ...]:
        """Return the scores of all answers so far, each of which counts once."""
        measure = self.metric.measure
        if measure.labels is not None:
            return label_values(measure.labels, self.labels)
        if not self.sums:
            return (None,) * len(self.metric.names)
        return measure.scores([total.value for total in self.sums])

    def scores(
        self, place: int, found: WholeAnswers, options: ScoreOptions
    ) -> Iterator[MetricScore]:
        """Yield the scores of the metric, which is at this place, with intervals."""
        metric, measure = self.metric, self.metric.measure
        of_questions = found.totals.get(place)
        pooled = found.pooled.get(place)
        of_answers = self.values()
        values = (pooled and pooled.values) or of_answers
        for at, name in enumerate(metric.names):
            asked = None if of_questions is None else of_questions[at]
            moments = found.moments[place][at] if asked is None else asked.moments
            distribution = (
                self.distributions[at] if asked is None else asked.distribution
            )
            interval, method, remark = self._interval(at, moments, pooled, options)
            value = values[at] if asked is None else asked.value
            if measure.is_bounded_mean and asked is None and not moments.is_even:
                value = moments.mean
            confusion = None
            if measure.labels is not None:
                confusion = confusion_of(measure.labels.reading, self.labels)
                if value is None and self.count:
                    remark = measure.labels.undefined
            yield MetricScore(
                metric=metric.request.label,
                name=name,
                value=value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=measure.is_mean,
                count=self.count if asked is None else asked.answers,
                unscored=self.unscored + (asked.left_out_answers if asked else 0),
                unreadable=None if measure.reads is None else self.unreadable,
                interval=interval,
                spread=distribution.distribution(),
                method=method,
                questions=moments.questions,
                standard_error=moments.standard_error if measure.is_mean else None,
                remark=remark,
                lower_is_better=measure.lower_is_better,
                left_out=asked.left_out if asked else NONE_LEFT_OUT,
                confusion=confusion,
                over_answers=None
                if asked
                else _over_answers(measure, of_answers[at], moments, options),
            )

    def _interval(
        self,
        at: int,
        moments: QuestionMoments,
        pooled: PooledScores | None,
        options: ScoreOptions,
    ) -> tuple[tuple[float, float] | None, str, str]:
        """Return the interval of a score, its method, and why it is approximate."""
        measure, questions = self.metric.measure, moments.questions
        if not options.replicates or not questions:
            return None, "", ""
        if questions < LEAST:
            return None, "", ONE_QUESTION
        if measure.is_bounded_mean:
            interval = wilson_interval(moments, options.level, measure.best)
            method = f"{_WILSON}|level:{options.level!r}"
            return interval, method, remark_of(moments, measure.best)
        of_scores = pooled.intervals if pooled else []
        limits, lacking = of_scores[at] if of_scores else (None, 0)
        if pooled is None or limits is None:
            return None, "", ""
        labels = measure.labels
        remark = NO_SPREAD if limits[0] == limits[1] else ""
        if labels is not None:
            remark = joined_remarks([remark, lacking_remark(lacking)])
            counts = pooled.weights or self.labels
            remark = remark or labels_remark(labels, counts, questions)
        remark = remark or resampled_remark(questions)
        if measure.is_mean and not remark:
            remark = few_others_remark(moments)
        draws = f"replicates:{options.replicates}|seed:{options.seed}"
        return limits, f"{_BOOTSTRAP}|level:{options.level!r}|{draws}", remark


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
        of_metrics = (
            totals.scores(at, found, options) for at, totals in enumerate(self._totals)
        )
        scores = tuple(chain.from_iterable(of_metrics))
        return Group(self.key, self.records, self.answers, scores)


def _over_answers(
    measure: Measure,
    value: float | None,
    moments: QuestionMoments,
    options: ScoreOptions,
) -> OverAnswers | None:
    """Return the score by which each answer counts once, None if it is the same."""
    if moments.is_even:
        return None
    interval, error = None, None
    if measure.is_mean:
        found = moments.over_answers()
        error = None if found.variance is None else sqrt(found.variance)
        if options.replicates and measure.is_bounded:
            interval = wilson_interval(found, options.level, measure.best)
    return OverAnswers(value, interval, error, min(moments.sums), max(moments.sums))
