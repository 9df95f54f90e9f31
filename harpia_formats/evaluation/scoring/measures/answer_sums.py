"""Sums of statistics over answers, and their scores and confidence intervals."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
from math import sqrt
from typing import Self

from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import Measure, Statistics
from harpia_formats.evaluation.scoring.measures.metric_score import (
    NONE_LEFT_OUT,
    Group,
    LeftOutQuestions,
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
    statistics_width,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    LabelBootstrap,
    PooledLabels,
    PooledRows,
    PooledScores,
    QuestionTotals,
    RowStore,
    add_moments,
    add_questions,
    confusion_of,
    count_labels,
    label_values,
    labels_remark,
    record_rows,
    with_rows,
)
from harpia_formats.evaluation.scoring.number_stores import ENTRIES_HELD
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    PoissonBootstrap,
    quantum_of,
)
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


@dataclass(slots=True)
class MetricQuestions:
    """What the questions of one group or several say about one metric."""

    #: For each score its sums over questions, and the scores of questions if any.
    totals: list[QuestionTotals]
    #: The scores of summed statistics.
    pooled: PooledScores = field(default_factory=PooledScores)


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
        names = [
            len(metric.names) if metric.measure.question is None else 0
            for metric in metrics
        ]
        numbers = f"{sum(names)}I{sum(names)}d"
        self._records = RowStore(numbers, partial(record_rows, names), held)
        #: What there is besides of metrics that are no means between bounds, by the
        #: place of the metric or by the reading of labels.
        self._statistics: dict[object, _Statistics] = {}
        #: The largest score by the place of a mean among them, and the group.
        self._largest: dict[tuple[int, int], float] = {}
        for at, metric in enumerate(metrics):
            measure = metric.measure
            if measure.is_bounded_mean and measure.scores_answers:
                continue
            key = at if measure.labels is None else measure.labels.reading
            if key in self._statistics:
                self._statistics[key].places.append(at)
                continue
            labels: dict[str, int] = {}
            numbers = f"{statistics_width(measure)}d"
            rows = RowStore(numbers, partial(_statistics_rows, at, labels), held)
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
        for at, metric in enumerate(self._metrics):
            if metric.measure.is_mean and at in self._statistics:
                self._note_largest(answers, at, group)

    def _note_largest(
        self, answers: Iterable[GroupAnswer], at: int, group: int
    ) -> None:
        """Take note of the largest score of answers by the metric at a place."""
        outcomes = (answer.outcomes[at] for answer in answers)
        scores = chain.from_iterable(
            outcome[1] for outcome in outcomes if not isinstance(outcome, str)
        )
        found = max(map(abs, filter(None, scores)), default=0.0)
        self._largest[at, group] = max(self._largest.get((at, group), 0.0), found)

    def wholes(self, wholes: Sequence[Collection[int]]) -> list[list[MetricQuestions]]:
        """Return what each metric says of some wholes: of one group or of several.

        Raises `SourceError` if a temporary file fails, and `MetricError` if a question
        cannot be scored.
        """
        found = [
            [
                MetricQuestions([QuestionTotals() for _ in metric.names])
                for metric in self._metrics
            ]
            for _ in wholes
        ]
        of_answers = [metric.measure.question is None for metric in self._metrics]
        moments = [
            [one.moments for mine in compress(whole, of_answers) for one in mine.totals]
            for whole in found
        ]
        self._records.read(wholes, [partial(add_moments, mine) for mine in moments])
        for one in self._statistics.values():
            own = [[whole[at] for at in one.places] for whole in found]
            question = self._metrics[one.places[0]].measure.question
            if question is not None:
                adds = [
                    partial(add_questions, mine.totals, question) for (mine,) in own
                ]
                one.rows.read(wholes, adds)
                continue
            pools = [
                self._pool(one, metrics[0].totals[0].moments, groups)
                for metrics, groups in zip(own, wholes, strict=True)
            ]
            one.rows.read(wholes, [pool.add for pool in pools])
            for pool, metrics in zip(pools, own, strict=True):
                scores = pool.found(self._options.level)
                for metric, score in zip(metrics, scores, strict=True):
                    metric.pooled = score
        return found

    def _pool(
        self,
        statistics: _Statistics,
        moments: QuestionMoments,
        groups: Iterable[int],
    ) -> PooledRows | PooledLabels:
        """Return what adds up the statistics of a whole of some groups.

        Its questions are counted in `moments`.
        """
        options = self._options
        measures = [self._metrics[at].measure for at in statistics.places]
        metrics = [one.labels for one in measures if one.labels is not None]
        if metrics:
            reading, names = metrics[0].reading, list(statistics.labels)
            labels = LabelBootstrap(reading, options.replicates, options.seed)
            return PooledLabels(metrics, names, moments, labels)
        (at,) = statistics.places
        largest = max((self._largest.get((at, one), 0.0) for one in groups), default=0)
        quantum = quantum_of(largest)
        rows = PoissonBootstrap(options.replicates, options.seed, quantum)
        return PooledRows(measures[0].scores, moments.is_even, rows)

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
        if isinstance(outcome, str):
            continue
        numbers = outcome[0]
        if isinstance(numbers, LabelPair):
            numbers = tuple(labels.setdefault(one, len(labels)) for one in numbers)
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
            self._add_labels(one for one, _ in scored if isinstance(one, LabelPair))
            return
        rows = [one for one, _ in scored if not isinstance(one, LabelPair)]
        self.sums = with_rows(self.sums, rows)
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
        if self.sums and other.sums:
            for total, more in zip(self.sums, other.sums, strict=True):
                total.merge(more)
        self.sums = self.sums or other.sums
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
        self, found: MetricQuestions, options: ScoreOptions
    ) -> Iterator[MetricScore]:
        """Yield the scores of the metric, with intervals of what its questions say."""
        metric, measure = self.metric, self.metric.measure
        of_answers = self.values()
        confusion = None
        if measure.labels is not None:
            confusion = confusion_of(measure.labels.reading, self.labels)
        for at, name in enumerate(metric.names):
            totals, distribution = found.totals[at], self.distributions[at]
            moments, count, unscored = totals.moments, self.count, self.unscored
            value = (found.pooled.values or of_answers)[at]
            left_out, over_answers = NONE_LEFT_OUT, None
            if measure.question is not None:
                distribution, count = totals.distribution, moments.answers
                value = distribution.distribution().mean
                unscored += sum(totals.left_out.elements())
                least = measure.question.least[at]
                left_out = LeftOutQuestions.of(totals.left_out, least)
            else:
                over_answers = _over_answers(measure, of_answers[at], moments, options)
                if measure.is_bounded_mean and not moments.is_even:
                    value = moments.mean
            interval, method, remark = self._interval(at, found, options)
            if measure.labels is not None and value is None and self.count:
                remark = measure.labels.undefined
            yield MetricScore(
                metric=metric.request.label,
                name=name,
                value=value,
                signature=measure.signature,
                scale=measure.scale,
                is_mean=measure.is_mean,
                count=count,
                unscored=unscored,
                unreadable=None if measure.reads is None else self.unreadable,
                interval=interval,
                spread=distribution.distribution(),
                method=method,
                questions=moments.questions,
                standard_error=moments.standard_error if measure.is_mean else None,
                remark=remark,
                lower_is_better=measure.lower_is_better,
                left_out=left_out,
                confusion=confusion,
                over_answers=over_answers,
            )

    def _interval(
        self, at: int, found: MetricQuestions, options: ScoreOptions
    ) -> tuple[tuple[float, float] | None, str, str]:
        """Return the interval of a score, its method, and why it is approximate."""
        measure, pooled = self.metric.measure, found.pooled
        moments = found.totals[at].moments
        questions = moments.questions
        if not options.replicates or not questions:
            return None, "", ""
        if questions < LEAST:
            return None, "", ONE_QUESTION
        if measure.is_bounded_mean:
            interval = wilson_interval(moments, options.level, measure.best)
            method = f"{_WILSON}|level:{options.level!r}"
            return interval, method, remark_of(moments, measure.best)
        limits, lacking = pooled.intervals[at] if pooled.intervals else (None, 0)
        if limits is None:
            return None, "", ""
        remark = NO_SPREAD if limits[0] == limits[1] else ""
        if measure.labels is not None:
            remark = joined_remarks([remark, lacking_remark(lacking)])
            counts = pooled.weights or self.labels
            remark = remark or labels_remark(measure.labels, counts, questions)
        remark = remark or resampled_remark(questions)
        if measure.is_mean and not remark:
            remark = few_others_remark(moments)
        draws = f"replicates:{options.replicates}|seed:{options.seed}"
        return limits, f"{_BOOTSTRAP}|level:{options.level!r}|{draws}", remark


@dataclass(slots=True)
class GroupTotals:
    """The running totals of the answers of one group, by all metrics."""

    metrics: Sequence[ComputedMetric]
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

    def group(self, found: Sequence[MetricQuestions], options: ScoreOptions) -> Group:
        """Return the scores of the group without its key.

        `found` is what the metrics say of its questions.
        """
        of_metrics = (
            totals.scores(mine, options)
            for totals, mine in zip(self._totals, found, strict=True)
        )
        scores = tuple(chain.from_iterable(of_metrics))
        return Group({}, self.records, self.answers, scores)


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
        error = sqrt(found.variance)
        if options.replicates and measure.is_bounded:
            interval = wilson_interval(found, options.level, measure.best)
    return OverAnswers(value, interval, error, min(moments.sums), max(moments.sums))
