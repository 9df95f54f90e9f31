"""Confusion matrices: how many answers have each pair of labels."""

from dataclasses import dataclass
from typing import Any

#: What gives the two labels of an answer, unless they are of two raters.
SIDES = "reference", "answer"


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of answers by the label of the reference and that of the answer.

    Of two raters it is the number by the labels that both gave.
    """

    #: The labels of rows and columns: in the given order, or else sorted.
    labels: tuple[str, ...]
    #: A row for each label of references, in it a number for each label of answers.
    counts: tuple[tuple[int, ...], ...]
    #: What gives the labels of rows, and those of columns: `SIDES` or two raters.
    sides: tuple[str, str] = SIDES

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain data that can be written as JSON."""
        raters = {} if self.sides == SIDES else {"sides": list(self.sides)}
        return {
            "labels": list(self.labels),
            **raters,
            "counts": [list(row) for row in self.counts],
        }
