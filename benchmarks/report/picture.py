"""A picture of seconds and memory by rows, as SVG for light and dark pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from report.tables import MEGABYTE

WIDTH, HEIGHT = 960, 430
#: The left edge, width, top and bottom of a panel.
LEFT, PANEL_WIDTH, TOP, BOTTOM = 66, 300, 62, 370
SECOND_LEFT = LEFT + PANEL_WIDTH + 184
#: The least distance between two labels.
LABEL_HEIGHT = 17
STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 }
.axis { fill: #59636e; font-size: 12px }
.paper { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.tool0 { stroke: #0969da } .name0 { fill: #0969da; font-weight: 600 }
.tool1 { stroke: #57606a } .name1 { fill: #57606a }
.tool2 { stroke: #bc4c00 } .name2 { fill: #bc4c00 }
.tool3 { stroke: #8250df } .name3 { fill: #8250df }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .axis { fill: #9198a1 }
  .paper { fill: #0d1117 }
  .grid { stroke: #30363d }
  .tool0 { stroke: #58a6ff } .name0 { fill: #58a6ff }
  .tool1 { stroke: #b1bac4 } .name1 { fill: #b1bac4 }
  .tool2 { stroke: #f0883e } .name2 { fill: #f0883e }
  .tool3 { stroke: #bc8cff } .name3 { fill: #bc8cff }
}"""


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement of a tool: rows, bytes read, seconds and bytes of memory."""

    tool: str
    rows: int
    size: int
    seconds: float
    peak: int | None


@dataclass(frozen=True, slots=True)
class LogScale:
    """A logarithmic scale that maps `low` to `start` and `high` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        share = log10(value / self.low) / log10(self.high / self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: its title, its left edge, and the line of each tool by name."""

    title: str
    left: int
    lines: dict[str, list[tuple[float, float]]]
    #: Returns the label of a value on the vertical axis.
    written: Callable[[float], str]


def svg_of(points: Sequence[Point]) -> str:
    """Return a picture with a panel of seconds, and one of memory if it is known."""
    panels = [
        Panel(
            "Seconds",
            LEFT,
            _lines(points, lambda point: point.seconds),
            lambda value: f"{value:g} s",
        )
    ]
    memory = [point for point in points if point.peak]
    if memory:
        lines = _lines(memory, lambda point: (point.peak or 0) / MEGABYTE)
        panels.append(Panel("Peak memory", SECOND_LEFT, lines, _megabytes))
    names = list(dict.fromkeys(point.tool for point in points))
    parts = [part for panel in panels for part in _panel(panel, names)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img"><title>Seconds and memory by rows, both logarithmic</title>'
    )
    paper = f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", paper, *parts, "</svg>\n"])


def _lines(
    points: Iterable[Point], value: Callable[[Point], float]
) -> dict[str, list[tuple[float, float]]]:
    """Return a line for each tool: rows and a value, from few rows to many."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        lines.setdefault(point.tool, []).append((point.rows, value(point)))
    return {name: sorted(line) for name, line in lines.items()}


def _megabytes(value: float) -> str:
    return f"{value:g} MB" if value < 1000 else f"{value / 1000:g} GB"


def _rows(value: float) -> str:
    """Return a number of rows in thousands (k) or millions (M)."""
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k"


def _panel(panel: Panel, names: list[str]) -> list[str]:
    """Return the parts of a panel: axes, lines, and a label at the end of each."""
    places = [place for line in panel.lines.values() for place in line]
    rows, values = zip(*places, strict=True)
    low, high = 10 ** floor(log10(min(values))), 10 ** ceil(log10(max(values)))
    right = panel.left + PANEL_WIDTH
    across = LogScale(min(rows), max(*rows, min(rows) * 2), panel.left, right)
    upright = LogScale(low, max(high, low * 10), BOTTOM, TOP)
    title = f'<text class="title" x="{panel.left}" y="32">{panel.title}</text>'
    below = _text("axis", (panel.left + right) / 2, BOTTOM + 42, "rows", "middle")
    return [
        title,
        *_upright_axis(panel, upright),
        *_across_axis(sorted(set(rows)), across),
        below,
        *_curves(panel, names, across, upright),
        *_labels(panel, names, across, upright),
    ]


def _upright_axis(panel: Panel, scale: LogScale) -> list[str]:
    """Return a line and a number for each power of ten."""
    parts = []
    value = scale.low
    while value <= scale.high * 1.001:
        y = scale(value)
        right = panel.left + PANEL_WIDTH
        parts.append(
            f'<path class="grid" d="M{panel.left} {y:.1f}H{right}"/>'
            + _text("axis", panel.left - 8, y + 4, panel.written(value), "end")
        )
        value *= 10
    return parts


def _across_axis(rows: Sequence[float], scale: LogScale) -> list[str]:
    """Return a tick and a number for each number of rows."""
    return [
        f'<path class="grid" d="M{scale(count):.1f} {BOTTOM}v6"/>'
        + _text("axis", scale(count), BOTTOM + 22, _rows(count), "middle")
        for count in rows
    ]


def _curves(
    panel: Panel, names: list[str], across: LogScale, upright: LogScale
) -> list[str]:
    """Return a curve with a dot at each point that was measured."""
    parts = []
    for name, line in panel.lines.items():
        places = [(across(rows), upright(value)) for rows, value in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
        kind = f"tool{names.index(name) % 4}"
        parts.append(f'<path class="line {kind}" d="M{path}"/>')
        parts.append(
            f'<path class="line {kind}" style="stroke-width:7;stroke-linecap:round" '
            f'd="{dots}"/>'
        )
    return parts


def _labels(
    panel: Panel, names: list[str], across: LogScale, upright: LogScale
) -> list[str]:
    """Return the name of each line, next to its end."""
    parts = []
    ends = {name: line[-1] for name, line in panel.lines.items()}
    for rows in sorted({rows for rows, _ in ends.values()}):
        heights = {
            name: upright(value) for name, (end, value) in ends.items() if end == rows
        }
        found = sorted(heights, key=lambda name: heights[name])
        spaced = spread_apart([heights[name] for name in found])
        parts += [
            _text(f"name{names.index(name) % 4}", across(rows) + 11, y + 4, name)
            for name, y in zip(found, spaced, strict=True)
        ]
    return parts


def spread_apart(heights: Sequence[float], least: float = LABEL_HEIGHT) -> list[float]:
    """Return ascending heights, moved so that neighbours are `least` apart."""
    spaced = list(heights)
    for _ in range(100):
        for place, (one, other) in enumerate(pairwise(list(spaced))):
            lack = least - (other - one)
            if lack > 0:
                spaced[place] -= lack / 2
                spaced[place + 1] += lack / 2
    return spaced


def _text(kind: str, x: float, y: float, what: str, anchor: str = "start") -> str:
    """Return text that starts, ends or is centred at a place."""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(what)}</text>"
    )
