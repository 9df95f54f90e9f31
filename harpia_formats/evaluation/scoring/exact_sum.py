"""Sums of floating-point numbers that do not depend on the order of additions."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self


@dataclass(slots=True)
class ExactSum:
    """The sum of any number of finite floats, without rounding."""

    #: Floats whose sum is the exact one, the largest first.
    _parts: list[float] = field(default_factory=list)

    def add(self, values: Iterable[float]) -> None:
        """Add some values."""
        left = [*self._parts, *values]
        parts = []
        # The rounded sum, then the rounded sum of what is missing from it.
        while rounded := math.fsum(left):
            parts.append(rounded)
            left.append(-rounded)
        self._parts = parts

    def merge(self, other: Self) -> None:
        """Add the values of `other`."""
        self.add(other._parts)

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._parts)
