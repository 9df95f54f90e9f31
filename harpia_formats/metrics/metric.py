"""The types of a metric: statistics that add up, and scores of their sums."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.errors import HarpiaFormatsError

#: Numbers of one record, or their sums over many, which are added place by place.
Statistics = tuple[float, ...]
#: An answer, and its references, of which there is at least one.
Pair = tuple[str, Sequence[str]]

#: The best score on each scale.
BEST = {"0-1": 1.0, "0-100": 100.0}


class MetricError(HarpiaFormatsError):
    """A metric that cannot be computed as requested; the text tells how to fix it."""


class UnscorableError(Exception):
    """One record that a metric cannot score; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric with its parameters.

    The score of one record is `scores(statistics(answer, references))`. The score of
    many is `scores` of the sum of their statistics, which may be added in any order.
    """

    #: The names of its scores, in their order.
    names: tuple[str, ...]
    #: The definition, library and version, options and scale of its scores.
    signature: str
    #: "0-1" or "0-100", or "any" for scores without a known scale.
    scale: str
    #: The statistics of one answer and its references, always as many numbers; raises
    #: `UnscorableError`.
    statistics: Callable[[str, Sequence[str]], Statistics]
    #: Returns a score for each name from summed statistics; None if none were added.
    scores: Callable[[Sequence[float]], tuple[float | None, ...]]
    #: Returns the statistics of many pairs at once, if that is faster than one by one.
    batch: Callable[[Sequence[Pair]], list[Statistics]] | None = None
    #: Whether the score of many records is the mean of their scores.
    is_mean: bool = False
    #: Whether every score lies on the scale, between 0 and the best score.
    is_bounded: bool = False
    #: Whether a lower score is better, as that of a rate of errors is; None if neither
    #: is, as of a length.
    lower_is_better: bool | None = False

    @property
    def is_bounded_mean(self) -> bool:
        """Whether a score is a mean of scores on the scale, as a proportion is."""
        return self.is_mean and self.is_bounded

    @property
    def best(self) -> float:
        """The best score on the scale."""
        return BEST.get(self.scale, math.inf)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric without parameters."""

    name: str
    #: The definition in one sentence.
    summary: str
    #: The names of its parameters with their defaults.
    parameters: Mapping[str, Any]
    #: Returns the metric with the given parameters; raises `MetricError` for an unknown
    #: parameter, a bad value or a package that is not installed.
    build: Callable[[Mapping[str, Any]], Measure]
    #: Whether the score of many answers is computed of their sums, and is not the mean
    #: of their scores.
    is_pooled: bool = False
