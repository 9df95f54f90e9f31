"""What scoring comes to: the scores of a data set, of its groups and of its answers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from harpia_formats.metrics import Measure
from harpia_formats.metrics.metric import Statistics
from harpia_formats.model.metric_profile import MetricRequest
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import Report


@dataclass(frozen=True, slots=True)
class ComputedMetric:
    """A metric that is computed, and what results call it and its scores."""

    request: MetricRequest
    measure: Measure

    @property
    def names(self) -> tuple[str, ...]:
        """What results call its scores."""
        return self.request.names or self.measure.names


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer with its own scores."""

    #: The number of the answer among all, and of its record, both from 1.
    number: int
    record_number: int
    record: Record
    output: Output
    #: The text that was scored; None if there was none.
    answer: str | None
    #: For each metric its scores, None for each where there are none.
    values: tuple[tuple[float | None, ...], ...]
    #: For each metric its statistics, None where there are none.
    statistics: tuple[Statistics | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """How the scores of single answers are spread."""

    count: int = 0
    sum: float = 0.0
    sum_squares: float = 0.0
    #: The sum of the squares of what lies between each and the mean.
    squares: float = 0.0
    minimum: float | None = None
    maximum: float | None = None

    @property
    def mean(self) -> float | None:
        """The mean, None if there is no score."""
        if self.minimum is None or self.maximum is None:
            return None
        # Additions may carry it a little beyond what it is the mean of.
        return min(max(self.sum / self.count, self.minimum), self.maximum)

    @property
    def variance(self) -> float | None:
        """The variance of the population, None if there is no score."""
        return self.squares / self.count if self.count else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the population, None if there is no score."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance)


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One score of one metric over many answers."""

    #: What results call the metric, and this score of it.
    metric: str
    name: str
    #: None where no answer could be scored.
    value: float | None
    #: How it was worked out; scores with unlike signatures do not compare.
    signature: str
    #: "0-1" or "0-100".
    scale: str
    #: Whether it is the mean of the answers' own scores.
    is_mean: bool
    #: Answers that it is of, and those that it gives no number to.
    count: int
    unscored: int
    #: The limits between which it lies, None where they are not known.
    interval: tuple[float, float] | None
    #: How the answers' own scores are spread.
    spread: ScoreDistribution


@dataclass(frozen=True, slots=True)
class Group:
    """The scores of the answers that have something in common; all of them, if nothing.

    Scores stand in the order of the metrics and of their names.
    """

    #: What they have in common: the value of each field.
    key: Mapping[str, str]
    #: Records that they are of, and answers.
    records: int
    answers: int
    scores: tuple[MetricScore, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a data set."""

    profile: str
    #: What was computed, in the order that was asked for.
    measured: tuple[ComputedMetric, ...]
    #: Names of metrics that are asked for and cannot be computed.
    unknown: tuple[str, ...]
    #: All answers together.
    total: Group
    #: The groups of answers, in the order of their first one.
    groups: tuple[Group, ...]
    #: Seconds that each metric took over all answers.
    seconds: tuple[float, ...]
    #: How the intervals were found, "" if there are none.
    resampling: str
    #: What was read, and what is wrong with it.
    report: Report
    #: Whether reading ended before the end.
    is_broken: bool
    #: The models of the answers, in the order of their first one.
    models: tuple[str, ...] = ()
    #: The first problems of each kind.
    problems: tuple[Problem, ...] = ()
    #: What was written, if anything was.
    outputs: tuple[str, ...] = ()
    said: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> MetricScore:
        """Return the score over all answers that is called `name`; raises `KeyError`.

        A score is called by its own name, or by that of its metric, a dot and its own.
        """
        for each in self.total.scores:
            if name in {each.name, f"{each.metric}.{each.name}"}:
                return each
        raise KeyError(name)

    @property
    def is_whole(self) -> bool:
        """Whether all was read, so that the scores are those of all answers."""
        return self.total.answers > 0 and not self.is_broken

    @property
    def ok(self) -> bool:
        """Whether all was read, and each metric has a score."""
        return self.report.ok and all(
            each.value is not None for each in self.total.scores
        )
