"""What a metric is: its name, and the score of one answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, in one definition."""

    name: str
    #: Given an answer and its references, one at least: a score from 0 to 1.
    score: Callable[[str, Sequence[str]], float]
    #: How the score is worked out, so that it can be worked out again.
    signature: str
