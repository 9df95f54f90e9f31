"""What a metric is: statistics that add up over records, and scores from their sums."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Of one record or summed over many: numbers that add up, place by place.
Statistics = tuple[float, ...]
#: An answer, and its references, one at least.
Pair = tuple[str, Sequence[str]]


class MetricError(Exception):
    """A metric that cannot be computed as asked, and how to mend it."""


class UnscorableError(Exception):
    """One record to which a metric gives no number; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric with its parameters settled.

    A record's own score is `scores(statistics(answer, references))`: that of a corpus
    of one. Statistics merge by addition, in any order.
    """

    #: What its scores are called, in their order.
    names: tuple[str, ...]
    #: The definition, library and version, options and scale of its scores.
    signature: str
    #: "0-1" or "0-100".
    scale: str
    #: The statistics of one answer and its references, always as many numbers; raises
    #: `UnscorableError`.
    statistics: Callable[[str, Sequence[str]], Statistics]
    #: From a sum of statistics a score for each name; None where nothing was scored.
    scores: Callable[[Sequence[float]], tuple[float | None, ...]]
    #: The statistics of many at once, where that is quicker than one by one.
    batch: Callable[[Sequence[Pair]], list[Statistics]] | None = None
    #: Whether a score over many records is the mean of theirs.
    is_mean: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, before its parameters are known."""

    name: str
    #: The definition in one sentence.
    summary: str
    #: The names of its parameters with their defaults.
    parameters: Mapping[str, Any]
    #: Raises `MetricError` for an unknown parameter, a bad value or a missing extra.
    build: Callable[[Mapping[str, Any]], Measure]
