"""By how much two systems differ on single questions, as counts."""

import math
from dataclasses import dataclass
from typing import Any

#: Parts of the range of differences above 0, and as many below it.
PARTS = 10
#: What rounding may make of a difference of 0, on a scale to 1.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class QuestionDifferences:
    """The differences of the mean scores of two systems on each question."""

    #: The number of questions without a difference.
    equal: int
    #: The greatest difference that can be, or that there is.
    widest: float
    #: The numbers of questions with a difference in `PARTS` parts below 0, from
    #: -`widest`, and as many above it.
    below: tuple[int, ...]
    above: tuple[int, ...]

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.equal + sum(self.below) + sum(self.above)


def question_differences(differences: Any, scale: float) -> QuestionDifferences:
    """Return the counts of an array of differences.

    `scale` is the greatest difference that can be, infinite if it is not known.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    greatest = float(np.abs(differences).max(initial=0.0))
    is_known = math.isfinite(scale) and greatest <= scale * (1 + _ROUNDING)
    widest = scale if is_known else greatest
    is_equal = np.abs(differences) <= widest * _ROUNDING
    unequal = differences[~is_equal]
    if not len(unequal):
        nothing = (0,) * PARTS
        return QuestionDifferences(len(differences), widest, nothing, nothing)
    places = np.minimum((np.abs(unequal) / widest * PARTS).astype(np.int64), PARTS - 1)
    above = np.bincount(places[unequal > 0], minlength=PARTS)
    below = np.bincount(places[unequal < 0], minlength=PARTS)[::-1]
    return QuestionDifferences(
        int(is_equal.sum()),
        widest,
        tuple(map(int, below.tolist())),
        tuple(map(int, above.tolist())),
    )
