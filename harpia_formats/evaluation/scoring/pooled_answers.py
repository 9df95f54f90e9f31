"""The scores of summed statistics, by which all questions count the same.

Each answer is weighted by 1 / answers of its question. The scores are those of pooled
metrics, of metrics of labels, and of means without bounds, which have no interval by a
formula but that of the bootstrap by question. Where all questions have equally many
answers, each answer counts once.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from math import fsum, lcm

from harpia_formats.evaluation.metrics.label_counts import (
    LabelPair,
    LabelReading,
    LabelScores,
)
from harpia_formats.evaluation.metrics.metric import Statistics
from harpia_formats.evaluation.scoring.bootstrap import PoissonBootstrap, limits_of
from harpia_formats.evaluation.scoring.intervals import (
    ExactSum,
    QuestionMoments,
    lacking_remark,
)
from harpia_formats.evaluation.scoring.label_totals import LabelBootstrap, PairWeights
from harpia_formats.evaluation.scoring.number_stores import ENTRIES_HELD
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import (
    ComputedMetric,
    GroupAnswer,
    Outcome,
    label_pair,
    numbers_of,
    statistics_width,
)
from harpia_formats.evaluation.scoring.question_scores import (
    Answers,
    AnswerStatistics,
    Questions,
    questions_of,
)

#: Rows of statistics that wait to be resampled together, of all wholes.
_WAITING = 4096
#: The most units of which the weights of answers with labels are multiples.
_UNITS = 2**24
_BOOTSTRAP = "bootstrap|limits:percentiles|unit:question"


@dataclass(frozen=True, slots=True)
class ResampledInterval:
    """The ends of an interval, None if there are none."""

    limits: tuple[float, float] | None
    #: The number of replicates without a score.
    lacking: int = 0

    @property
    def remark(self) -> str:
        """Why the interval is approximate, "" if it is not."""
        return lacking_remark(self.lacking)


def bootstrap_method(options: ScoreOptions) -> str:
    """Return the method of intervals by the bootstrap, with its parameters."""
    return (
        f"{_BOOTSTRAP}|level:{options.level!r}|replicates:{options.replicates}"
        f"|seed:{options.seed}"
    )


@dataclass(slots=True)
class PooledWhole:
    """What is known of the answers of some groups, after the last one was added."""

    #: The sums of the weighted statistics by the place of a metric, and for labels
    #: those of the weights by pair; only where questions have unequal numbers of
    #: answers.
    sums: dict[int, Sequence[float]] = field(default_factory=dict)
    weights: dict[int, PairWeights] = field(default_factory=dict)
    #: The intervals of the scores of each metric by its place.
    intervals: dict[int, list[ResampledInterval]] = field(default_factory=dict)


class PooledAnswers:
    """The statistics of answers by group; to be closed with `close`.

    Only metrics whose score is no mean between bounds have any.
    """

    def __init__(
        self,
        metrics: Sequence[ComputedMetric],
        options: ScoreOptions,
        held: int = ENTRIES_HELD,
    ) -> None:
        self._metrics = metrics
        self._replicates, self._seed = options.replicates, options.seed
        self._level = options.level
        #: The statistics of each metric by its place.
        self._stores: dict[int, AnswerStatistics] = {}
        self._widths: dict[int, int] = {}
        #: The places of the metrics of labels with each reading, and the store, by
        #: which labels have the numbers of their places in the list.
        self._readings: dict[LabelReading, list[int]] = {}
        self._labels: dict[LabelReading, tuple[AnswerStatistics, list[str]]] = {}
        for at, metric in enumerate(metrics):
            measure = metric.measure
            if measure.labels is not None:
                reading = measure.labels.reading
                if reading not in self._readings:
                    self._labels[reading] = _label_store(at, held)
                self._readings.setdefault(reading, []).append(at)
            elif measure.question is None and not measure.is_bounded_mean:
                self._widths[at] = width = statistics_width(measure)
                self._stores[at] = AnswerStatistics(at, width, numbers_of, held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for store in (
            *self._stores.values(),
            *(one for one, _ in self._labels.values()),
        ):
            store.add_answers(answers, group)

    def _all_stores(self) -> Iterator[AnswerStatistics]:
        yield from self._stores.values()
        yield from (store for store, _ in self._labels.values())

    def wholes(
        self,
        wholes: Sequence[Collection[int]],
        moments: Sequence[Mapping[int, QuestionMoments]],
    ) -> list[PooledWhole]:
        """Return what is known of some wholes, each of which is one group or several.

        `moments` has for each whole those of each metric, by its place. Raises
        `SourceError` if the temporary file fails.
        """
        found = [PooledWhole() for _ in wholes]
        if self._stores:
            rows = [self._weighted_rows(one) for one in moments]
            self._add_rows(wholes, rows)
            for whole, mine in zip(found, rows, strict=True):
                whole.sums = mine.weighted_sums()
                whole.intervals |= self._intervals(mine)
        for reading in self._labels:
            self._add_labels(reading, wholes, moments, found)
        return found

    def _weighted_rows(self, moments: Mapping[int, QuestionMoments]) -> "_WeightedRows":
        even = {at for at in self._stores if moments[at].is_even}
        bootstrap = PoissonBootstrap(self._replicates, self._seed)
        return _WeightedRows(self._widths, even, bootstrap)

    def _add_rows(
        self, wholes: Sequence[Collection[int]], rows: Sequence["_WeightedRows"]
    ) -> None:
        """Add the statistics of all questions to the sums of the wholes."""
        waiting = 0
        parts = zip(*(store.parts() for store in self._stores.values()), strict=True)
        for by_metric in parts:
            for mine, groups in zip(rows, wholes, strict=True):
                questions = {
                    at: questions_of(by_group, groups)
                    for at, by_group in zip(self._stores, by_metric, strict=True)
                }
                waiting += mine.add(questions)
            if waiting >= _WAITING:
                waiting = 0
                for mine in rows:
                    mine.resample()
        for mine in rows:
            mine.resample()

    def _intervals(self, rows: "_WeightedRows") -> dict[int, list[ResampledInterval]]:
        """Return the intervals of the metrics that are no metrics of labels."""

        def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
            found: list[float | None] = []
            start = 0
            for at, width in self._widths.items():
                found += self._metrics[at].measure.scores(sums[start : start + width])
                start += width
            return tuple(found)

        limits = iter(rows.bootstrap.intervals(scores, self._level))
        return {
            at: [ResampledInterval(next(limits, None)) for _ in self._metrics[at].names]
            for at in self._stores
        }

    def _add_labels(
        self,
        reading: LabelReading,
        wholes: Sequence[Collection[int]],
        moments: Sequence[Mapping[int, QuestionMoments]],
        found: Sequence[PooledWhole],
    ) -> None:
        """Add the weights and the intervals of the metrics with one reading."""
        store, names = self._labels[reading]
        places = self._readings[reading]
        scores = [
            labels
            for at in places
            if (labels := self._metrics[at].measure.labels) is not None
        ]
        rows = [
            _WeightedLabels(
                names,
                one[places[0]],
                LabelBootstrap(reading, self._replicates, self._seed),
            )
            for one in moments
        ]
        waiting = 0
        for by_group in store.parts():
            for mine, groups in zip(rows, wholes, strict=True):
                waiting += mine.add(questions_of(by_group, groups))
            if waiting >= _WAITING:
                waiting = 0
                for mine in rows:
                    mine.resample()
        for whole, mine in zip(found, rows, strict=True):
            if not mine.moments.is_even:
                whole.weights |= dict.fromkeys(places, mine.weights)
            intervals = mine.intervals(scores, self._level)
            whole.intervals |= dict(zip(places, intervals, strict=True))

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for store in (
            *self._stores.values(),
            *(one for one, _ in self._labels.values()),
        ):
            store.close()


def _label_store(at: int, held: int) -> tuple[AnswerStatistics, list[str]]:
    """Return a store of the labels of a metric, and the labels by their numbers."""
    numbers: dict[str, int] = {}
    names: list[str] = []

    def number_of(label: str) -> int:
        if label not in numbers:
            numbers[label] = len(names)
            names.append(label)
        return numbers[label]

    def numbers_of_pair(outcome: Outcome) -> Statistics | None:
        pair = label_pair(outcome)
        return None if pair is None else tuple(map(number_of, pair))

    return AnswerStatistics(at, len(LabelPair._fields), numbers_of_pair, held), names


@dataclass(slots=True)
class _WeightedRows:
    """The sums of the statistics of several metrics, and their replicates."""

    #: The number of statistics of each metric by its place.
    widths: Mapping[int, int]
    #: The places of the metrics by which questions have equally many answers.
    even: Collection[int]
    bootstrap: PoissonBootstrap
    _sums: dict[int, list[ExactSum]] = field(default_factory=dict)
    _keys: list[bytes] = field(default_factory=list)
    _rows: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sums = {
            at: [ExactSum() for _ in range(width)]
            for at, width in self.widths.items()
            if at not in self.even
        }

    def add(self, questions: Mapping[int, Questions]) -> int:
        """Add questions by the place of the metric; return the number of rows."""
        before = len(self._rows)
        for at, sums in self._sums.items():
            rows = map(_weighted, questions[at].values())
            for total, column in zip(sums, zip(*rows, strict=True), strict=False):
                total.add(column)
        if self.bootstrap.replicates:
            keys = dict.fromkeys(key for mine in questions.values() for key in mine)
            for key in keys:
                self._add_question(key, questions)
        return len(self._rows) - before

    def _add_question(self, key: bytes, questions: Mapping[int, Questions]) -> None:
        """Add the rows of a question: one for each answer where all count once."""
        columns = [
            [_weighted(mine)]
            if at not in self.even and (mine := questions[at].get(key))
            else list(questions[at].get(key, Counter()).elements())
            for at in self.widths
        ]
        nothing = [(0.0,) * width for width in self.widths.values()]
        for parts in zip_longest(*columns):
            self._keys.append(key)
            both = zip(parts, nothing, strict=True)
            self._rows.append([one for part, zeros in both for one in part or zeros])

    def resample(self) -> None:
        """Add the rows that wait to the replicates."""
        self.bootstrap.add(self._keys, self._rows)
        self._keys, self._rows = [], []

    def weighted_sums(self) -> dict[int, Sequence[float]]:
        """Return the sums of the metrics with unequal numbers of answers."""
        return {at: [total.value for total in sums] for at, sums in self._sums.items()}


def _weighted(answers: Answers) -> Statistics:
    """Return the mean of the statistics of the answers to a question."""
    count = answers.total()
    if count == 1:
        (only,) = answers
        return only
    columns = zip(*answers.elements(), strict=True)
    return tuple(fsum(column) / count for column in columns)


@dataclass(slots=True)
class _WeightedLabels:
    """The weights of the answers with each pair of labels, and their replicates."""

    #: The labels by their numbers.
    names: Sequence[str]
    moments: QuestionMoments
    bootstrap: LabelBootstrap
    weights: dict[LabelPair, Fraction] = field(default_factory=dict)
    _units: int = 1
    _rows: list[tuple[bytes, LabelPair, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._units = min(lcm(*self.moments.sums), _UNITS)

    def add(self, questions: Questions) -> int:
        """Add the answers to some questions; return the number of rows."""
        is_even, before = self.moments.is_even, len(self._rows)
        for key, answers in questions.items():
            total = answers.total()
            unit = 1 if is_even else max(round(self._units / total), 1)
            for numbers, count in answers.items():
                pair = LabelPair(*(self.names[int(number)] for number in numbers))
                if not is_even:
                    share = Fraction(count, total)
                    self.weights[pair] = self.weights.get(pair, Fraction()) + share
                self._rows.append((key, pair, unit * count))
        return len(self._rows) - before

    def resample(self) -> None:
        """Add the answers that wait to the replicates."""
        if self._rows and self.bootstrap.replicates:
            self.bootstrap.add(*zip(*self._rows, strict=True))
        self._rows = []

    def intervals(
        self, scores: Sequence[LabelScores], level: float
    ) -> Iterator[list[ResampledInterval]]:
        """Yield the intervals of the scores of each metric."""
        self.resample()
        rows = list(self.bootstrap.replicated(scores))
        for number in range(len(scores)):
            columns = zip(*(row[number] for row in rows), strict=True)
            yield [_interval(column, level) for column in columns]


def _interval(column: Sequence[float | None], level: float) -> ResampledInterval:
    values = [value for value in column if value is not None]
    return ResampledInterval(limits_of(values, level), len(column) - len(values))
