"""Numbers of tables that are published: as many digits as their intervals carry."""

import math
from collections.abc import Iterable

from harpia_formats.evaluation.scoring.metric_score import MetricScore

#: Digits behind the point of scores without an interval.
_USUAL = {"0-1": 3, "0-100": 1}
_OTHER, _MOST = 3, 6
#: Larger numbers are written with an exponent.
_LARGE = 1e9
NONE = "\u2013"


def decimals_of(scores: Iterable[MetricScore]) -> int:
    """Return how many digits behind the point the scores of a column have.

    Half the width of the narrowest interval has two significant digits.
    """
    scores = list(scores)
    limits = (score.interval for score in scores if score.interval is not None)
    widths = [high - low for low, high in limits if high > low]
    if not widths:
        return _USUAL.get(scores[0].scale, _OTHER) if scores else _OTHER
    return decimals_for(min(widths) / 2)


def decimals_for(half: float) -> int:
    """Return how many digits behind the point show two significant ones of `half`."""
    return min(max(1 - math.floor(math.log10(half)), 0), _MOST)


def number_text(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with so many digits behind the point, and never `-0.00`."""
    if abs(value) >= _LARGE:
        return f"{value:{sign}.4g}"
    text = f"{value:{sign}.{decimals}f}"
    return text[1:] if text[0] == "-" and not text.strip("-0.") else text


def interval_text(limits: tuple[float, float], decimals: int, sign: str = "") -> str:
    """Return the limits of an interval in brackets."""
    low, high = (number_text(limit, decimals, sign) for limit in limits)
    return f"[{low}, {high}]"
