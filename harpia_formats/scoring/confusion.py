"""Confusion matrices: how many answers have each pair of labels."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of answers by the label of the reference and that of the answer."""

    #: The labels of rows and columns: in the given order, or else sorted.
    labels: tuple[str, ...]
    #: A row for each label of references, in it a number for each label of answers.
    counts: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain data that can be written as JSON."""
        return {
            "labels": list(self.labels),
            "counts": [list(row) for row in self.counts],
        }
