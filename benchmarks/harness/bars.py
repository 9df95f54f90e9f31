"""Judge what was measured by the bars that it must reach."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.tables import megabytes, ratio, ratio_text, table

from harness.measure import Measurement


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure must reach, and what it is; none if it was not measured."""

    what: str
    limit: float
    figure: float | None
    #: Most bars are the most that is allowed; this one is the least.
    at_least: bool = False
    #: Why there is no figure.
    why_not: str = "not measured"
    #: Peak memory of both that are compared.
    memory: str = ""

    @property
    def met(self) -> bool:
        """Whether it was measured and reaches the bar."""
        if self.figure is None:
            return False
        if self.at_least:
            return self.figure >= self.limit
        return self.figure <= self.limit


def bars_table(bars: Sequence[Bar]) -> str:
    """Return a table of all bars, each with its figure and whether it is met."""
    has_memory = any(each.memory for each in bars)
    heads = ["line", "figure", "bar", "verdict"]
    rows = [
        [
            each.what,
            number(each.figure) if each.figure is not None else each.why_not,
            f"at {'least' if each.at_least else 'most'} {number(each.limit)}",
            "met" if each.met else "**not met**",
            *([each.memory] if has_memory else []),
        ]
        for each in bars
    ]
    return table([*heads, *(["peak memory, MB"] if has_memory else [])], rows)


def timed(what: str, limit: float, first: Measurement, second: Measurement) -> Bar:
    """Return a bar of the time of `first` over that of `second`, memory beside it."""
    memory = f"{megabytes(first.peak)} / {megabytes(second.peak)}"
    return Bar(f"{what}, time", limit, ratio(first, second), memory=memory)


def number(value: float) -> str:
    """Return a figure with as many digits as say something."""
    if value >= 10:
        return f"{value:,.0f}"
    text = ratio_text(value)
    short = f"{value:g}"
    return short if float(short) == value and len(short) < len(text) + 2 else text


def memory_ratio(first: Measurement, second: Measurement) -> float | None:
    """Return the peak memory of `first` over that of `second`, if both are known."""
    if first.peak is None or second.peak is None:
        return None
    return first.peak / second.peak
