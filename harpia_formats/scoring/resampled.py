"""Answers with their outcomes, and the bootstrap of the metrics that need one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from harpia_formats.metrics import Measure
from harpia_formats.metrics.label_reading import LabelPair
from harpia_formats.metrics.metric import Sample, Statistics, UnscorableError
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.resampled_labels import (
    ResampledInterval,
    ResampledLabels,
)

#: The statistics and the scores of one answer by one metric, or why it has none. For a
#: metric of labels they are its pair of labels, and no scores.
Outcome = tuple[Statistics | LabelPair, tuple[float | None, ...]] | str
#: The outcome of an answer that a metric is not about, so that it does not lack it.
NO_SUCH_SCORE = ""

#: A text and a sample that every metric can score.
_ANY = "1 2 3 4 5 6"
_ANY_SAMPLE = Sample(_ANY, [_ANY], [_ANY], [_ANY], [_ANY], [_ANY])
_BOOTSTRAP = "bootstrap|limits:percentiles|unit:question"


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    if measure.question is not None:
        return len(measure.question.missing)
    if measure.labels is not None:
        return len(LabelPair._fields)
    try:
        if measure.of_sample is not None:
            return len(measure.of_sample(_ANY_SAMPLE))
        return len(measure.statistics(_ANY, [_ANY]))
    except UnscorableError:
        # Of a mean they are the sums of its scores and their number.
        return len(measure.names) + 1


def numbers_of(outcome: Outcome) -> Statistics | None:
    """Return the statistics of an outcome that add up, None if it has none."""
    if isinstance(outcome, str) or isinstance(outcome[0], LabelPair):
        return None
    return outcome[0]


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """One answer of a group, with its outcome by each metric."""

    #: The number of its record in the run.
    record_number: int
    #: The digest of its question.
    question: bytes
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class ResampledMetrics:
    """The bootstrap of the metrics that have no interval by a formula."""

    metrics: tuple[ComputedMetric, ...]
    bootstrap: PoissonBootstrap
    _places: list[int] = field(default_factory=list)
    _widths: list[int] = field(default_factory=list)
    _labels: ResampledLabels = field(init=False)

    def __post_init__(self) -> None:
        bootstrap = self.bootstrap
        self._labels = ResampledLabels(
            self.metrics, bootstrap.replicates, bootstrap.seed
        )
        self._places = [
            at
            for at, metric in enumerate(self.metrics)
            if not (metric.measure.is_bounded_mean or metric.measure.labels)
        ]
        self._widths = [
            statistics_width(self.metrics[at].measure) for at in self._places
        ]

    def add(self, answers: Sequence[GroupAnswer]) -> None:
        """Add answers, with zeros where a metric has no score."""
        self._labels.add(answers)
        if not self._places:
            return
        keys = [answer.question for answer in answers]
        self.bootstrap.add(keys, [list(self._row(answer)) for answer in answers])

    def _row(self, answer: GroupAnswer) -> Iterable[float]:
        for at, width in zip(self._places, self._widths, strict=True):
            numbers = numbers_of(answer.outcomes[at])
            yield from (0.0,) * width if numbers is None else numbers

    def merge(self, other: Self) -> None:
        """Add the answers of `other`, which has the same metrics."""
        self.bootstrap.merge(other.bootstrap)
        self._labels.merge(other._labels)

    def intervals(self, level: float) -> dict[int, list[ResampledInterval]]:
        """Return the intervals of each resampled metric by its place."""
        limits = iter(self.bootstrap.intervals(self._scores, level))
        found = {
            at: [ResampledInterval(next(limits, None)) for _ in self.metrics[at].names]
            for at in self._places
        }
        return found | self._labels.intervals(level)

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
