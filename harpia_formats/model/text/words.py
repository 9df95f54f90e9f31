"""Counts and p-values as words."""

import math

#: A p-value below is not shown with its digits.
_LEAST_P = 1e-4


def with_noun(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def p_text(value: float, *, is_least: bool) -> str:
    """Return a p-value as text; one that draws cannot show to be smaller as `≤ 0.001`.

    The bound is rounded up to two digits.
    """
    if is_least and value < 1:
        digits = 1 - math.floor(math.log10(value))
        return f"≤ {math.ceil(value * 10**digits) / 10**digits:.{digits}f}".rstrip("0")
    return "< 0.0001" if value < _LEAST_P else f"{value:.4f}"
