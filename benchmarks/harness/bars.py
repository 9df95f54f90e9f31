"""Bars: limits that measured values must meet, and a table of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.tables import megabytes, ratio, ratio_text, table

from harness.measure import Measurement


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit, and the measured value; None if it was not measured."""

    what: str
    limit: float
    figure: float | None
    #: Whether the value must be at least the limit, and not at most.
    at_least: bool = False
    #: Why there is no value.
    why_not: str = "not measured"
    #: The peak memory of both commands of a ratio.
    memory: str = ""

    @property
    def met(self) -> bool:
        """Whether the value was measured and is within the limit."""
        if self.figure is None:
            return False
        if self.at_least:
            return self.figure >= self.limit
        return self.figure <= self.limit


def bars_table(bars: Sequence[Bar]) -> str:
    """Return a table of bars, each with its value and whether it is met."""
    has_memory = any(bar.memory for bar in bars)
    heads = ["line", "figure", "bar", "verdict"]
    rows = [
        [
            bar.what,
            number(bar.figure) if bar.figure is not None else bar.why_not,
            f"at {'least' if bar.at_least else 'most'} {number(bar.limit)}",
            "met" if bar.met else "**not met**",
            *([bar.memory] if has_memory else []),
        ]
        for bar in bars
    ]
    return table([*heads, *(["peak memory, MB"] if has_memory else [])], rows)


def timed(what: str, limit: float, first: Measurement, second: Measurement) -> Bar:
    """Return a bar for the time of `first` divided by that of `second`."""
    memory = f"{megabytes(first.peak)} / {megabytes(second.peak)}"
    return Bar(f"{what}, time", limit, ratio(first, second), memory=memory)


def number(value: float) -> str:
    """Return a number with its significant digits."""
    if value >= 10:
        return f"{value:,.0f}"
    text = ratio_text(value)
    short = f"{value:g}"
    return short if float(short) == value and len(short) < len(text) + 2 else text


def memory_ratio(first: Measurement, second: Measurement) -> float | None:
    """Return the peak memory of `first` divided by that of `second`.

    The result is None if a peak is unknown.
    """
    if first.peak is None or second.peak is None:
        return None
    return first.peak / second.peak
