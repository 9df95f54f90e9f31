"""Compare decoded numbers, which may be integers of any size."""

from math import isclose
from typing import Any

#: How far two numbers may differ that are the same but for rounding: many programs
#: write four decimals.
_relative, _absolute = 1e-3, 1e-4


def float_of(value: Any) -> float | None:
    """Return a decoded number as a float, None if it is none or too large for one."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def is_near(one: float, other: float) -> bool:
    """Tell whether two numbers are the same but for rounding."""
    return isclose(one, other, rel_tol=_relative, abs_tol=_absolute)
