"""The bootstrap of the metrics of labels: one of all metrics that read equal labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from harpia_formats.metrics.label_reading import LabelPair, LabelReading
from harpia_formats.scoring.bootstrap import limits_of
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.intervals import lacking_remark
from harpia_formats.scoring.label_bootstrap import LabelBootstrap

if TYPE_CHECKING:  # it imports this module
    from harpia_formats.scoring.resampled import GroupAnswer, Outcome


def label_pair(outcome: "Outcome") -> LabelPair | None:
    """Return the labels of an outcome, None if it has none."""
    if isinstance(outcome, str) or not isinstance(outcome[0], LabelPair):
        return None
    return outcome[0]


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


@dataclass(slots=True)
class ResampledLabels:
    """The bootstraps of the metrics of labels among some metrics."""

    metrics: tuple[ComputedMetric, ...]
    replicates: int
    seed: int
    #: The places of the metrics with each reading.
    _places: dict[LabelReading, list[int]] = field(default_factory=dict)
    _bootstraps: dict[LabelReading, LabelBootstrap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for at, metric in enumerate(self.metrics):
            labels = metric.measure.labels
            if labels is not None:
                self._places.setdefault(labels.reading, []).append(at)
        self._bootstraps = {
            reading: LabelBootstrap(reading, self.replicates, self.seed)
            for reading in self._places
        }

    def add(self, answers: Sequence["GroupAnswer"]) -> None:
        """Add the answers that have labels."""
        for reading, bootstrap in self._bootstraps.items():
            at = self._places[reading][0]
            found = [
                (answer.question, pair)
                for answer in answers
                if (pair := label_pair(answer.outcomes[at])) is not None
            ]
            keys, pairs = zip(*found, strict=True) if found else ((), ())
            bootstrap.add(keys, pairs)

    def merge(self, other: Self) -> None:
        """Add the answers of `other`, which has the same metrics."""
        for reading, bootstrap in self._bootstraps.items():
            bootstrap.merge(other._bootstraps[reading])

    def intervals(self, level: float) -> dict[int, list[ResampledInterval]]:
        """Return the intervals of the scores of each metric by its place."""
        found = {}
        for reading, places in self._places.items():
            metrics = [
                labels
                for at in places
                if (labels := self.metrics[at].measure.labels) is not None
            ]
            rows = list(self._bootstraps[reading].replicated(metrics))
            for number, at in enumerate(places):
                columns = zip(*(row[number] for row in rows), strict=True)
                found[at] = [_interval(column, level) for column in columns]
        return found


def _interval(column: Sequence[float | None], level: float) -> ResampledInterval:
    values = [value for value in column if value is not None]
    return ResampledInterval(limits_of(values, level), len(column) - len(values))
