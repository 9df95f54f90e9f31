"""The running distribution of a score over answers or questions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from harpia_formats.evaluation.scoring.exact_sum import ExactSum
from harpia_formats.evaluation.scoring.intervals import QUANTA
from harpia_formats.evaluation.scoring.metric_score import ScoreDistribution


@dataclass(slots=True)
class RunningDistribution:
    """The running distribution of one score over single answers or questions."""

    count: int = 0
    total: ExactSum = field(default_factory=ExactSum)
    #: Sums of the scores and of their squares, in multiples of 1/QUANTA.
    quanta: int = 0
    squares: int = 0
    minimum: float | None = None
    maximum: float | None = None

    def add(self, values: Sequence[float]) -> None:
        """Add some scores."""
        if not values:
            return
        ends = [end for end in (self.minimum, self.maximum) if end is not None]
        self.minimum, self.maximum = min((*ends, *values)), max((*ends, *values))
        self.count += len(values)
        self.total.add(values)
        whole = [round(value * QUANTA) for value in values]
        self.quanta += sum(whole)
        self.squares += sum([value * value for value in whole])

    def merge(self, other: Self) -> None:
        """Add the scores of `other`."""
        for value in (other.minimum, other.maximum):
            if value is not None:
                ends = (value, self.minimum, self.maximum)
                self.minimum = min(end for end in ends if end is not None)
                self.maximum = max(end for end in ends if end is not None)
        self.count += other.count
        self.total.merge(other.total)
        self.quanta += other.quanta
        self.squares += other.squares

    def distribution(self) -> ScoreDistribution:
        """Return the distribution so far."""
        if not self.count:
            return ScoreDistribution()
        spread = self.squares * self.count - self.quanta**2
        return ScoreDistribution(
            self.count,
            self.total.value,
            self.squares / QUANTA**2,
            spread / (self.count * QUANTA) ** 2,
            self.minimum,
            self.maximum,
        )
