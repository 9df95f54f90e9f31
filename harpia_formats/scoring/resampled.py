"""Answers with their outcomes, and the bootstrap of the metrics that need one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harpia_formats.metrics import Measure
from harpia_formats.metrics.metric import Sample, Statistics
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.scores import ComputedMetric

#: The statistics and the scores of one answer by one metric, or why it has none.
Outcome = tuple[Statistics, tuple[float | None, ...]] | str
#: The outcome of an answer that a metric is not about, so that it does not lack it.
NO_SUCH_SCORE = ""
Interval = tuple[float, float] | None

#: A text and a sample that every metric can score.
_ANY = "1 2 3 4 5 6"
_ANY_SAMPLE = Sample(_ANY, [_ANY], [_ANY], [_ANY], [_ANY], [_ANY])
_BOOTSTRAP = "bootstrap|limits:percentiles|unit:question"


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    if measure.of_sample is not None:
        return len(measure.of_sample(_ANY_SAMPLE))
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
