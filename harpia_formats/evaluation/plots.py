"""Charts as HTML with inline SVG: pure functions from numbers to text.

A chart fills the width that it is given, so that it is readable on a telephone. It has
a title, a description and its numbers as a table, for those who do not see it. Its
colours are variables of `STYLE`, which a page with charts has once in a style element;
marks differ by shape or lightness too, for prints in grey. What is too little to draw
is said in a sentence.

>>> from harpia_formats.evaluation.plots import Bar, bars
>>> bars("rules", "Findings by rule", [Bar("S101 wrong-type", 12), Bar("J101", 3)])[:20]
'<figure class="plot"'
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType

from harpia_formats.model.bins import Bin, LengthCounts
from harpia_formats.model.safe_text import safe

__all__ = [
    "EMBEDDED",
    "EMBEDDED_STYLE",
    "STYLE",
    "Bar",
    "Bin",
    "Interval",
    "LengthCounts",
    "bars",
    "histogram",
    "intervals",
]


#: Code points of a label.
_LABEL = 120
#: Rows of the table of numbers.
_ROWS = 100


def shown(text: str, limit: int = _LABEL) -> str:
    """Return text for an element or a quoted attribute, without unsafe characters."""
    return escape(safe(text, limit))


def number(value: float) -> str:
    """Return a number for people: integers with commas, others with 4 digits."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value)):
        return f"{int(value):,}"
    return f"{value:.4g}"


def with_noun(count: int, nouns: str) -> str:
    """Return a count with its noun, which is given in the plural."""
    return f"{count:,} {nouns.removesuffix('s') if count == 1 else nouns}"


def percent(share: float) -> str:
    """Return a share of the width as a length, such as `12.5%` for 0.125."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return about `wanted` round numbers from `low` to `high`, which are different."""
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


def said(title: str, sentence: str) -> str:
    """Return a sentence in the place of a chart that has too little to draw."""
    return f'<p class="plot-said">{shown(title)}: {shown(sentence)}</p>'


def anchored(share: float, y: float, text: str, kind: str = "soft") -> str:
    """Return a text whose start, middle or end is at a share of the width.

    Near the borders it is the start or the end, so that nothing stands outside.
    """
    anchor = "start" if share < 0.08 else "end" if share > 0.92 else "middle"  # noqa: PLR2004 - about half a label
    return (
        f'<text class="{kind}" x="{percent(share)}" y="{y:g}" '
        f'text-anchor="{anchor}">{shown(text)}</text>'
    )


def figure(  # noqa: PLR0913 - the parts of a chart
    name: str,
    title: str,
    description: str,
    *,
    height: float,
    parts: Iterable[str],
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    legend: str = "",
) -> str:
    """Return a drawing with its title, its description and its numbers as a table.

    `name` starts the ids of its elements; it is unique on the page and has letters,
    digits and hyphens only. `height` is in pixels, and the width is what there is. Of
    many rows the table has the first ones, and says how many there are. `legend` is
    markup above the drawing.
    """
    title_id, description_id = f"{name}-title", f"{name}-desc"
    header = "".join(f'<th scope="col">{shown(cell)}</th>' for cell in head)
    rows = list(rows)
    body = "".join(
        f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in row)}</tr>"
        for row in rows[:_ROWS]
    )
    rest = len(rows) - _ROWS
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    return (
        f'<figure class="plot" id="{name}"><figcaption>{shown(title)}</figcaption>'
        f'{legend}<svg role="img" aria-labelledby="{title_id} {description_id}" '
        f'width="100%" height="{height:g}">'
        f'<title id="{title_id}">{shown(title)}</title>'
        f'<desc id="{description_id}">{shown(description, 1000)}</desc>'
        f"{''.join(parts)}</svg>"
        '<details class="plot-numbers"><summary>Numbers</summary>'
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
        f"{more}</details></figure>"
    )


#: Pixels of a row: the line with its label, and all of it.
_BAR_TEXT, _BAR_ROW = 18, 36
_BAR = 10
#: The classes of bars that `STYLE` knows.
KINDS = ("mark", "error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Bar:
    """A count with its label; `kind` is its look, one of `KINDS`.

    An error is filled dark, a warning filled light, and a note has an outline only.
    """

    label: str
    value: int
    kind: str = "mark"


def bars(  # noqa: PLR0913 - all but the rows are about the look
    name: str,
    title: str,
    rows: Sequence[Bar],
    *,
    noun: str = "count",
    most: int = 20,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return bars as HTML, in the order that they are given, from 0.

    `name` is an id that is unique on the page. Bars behind the first `most` are in the
    table only, which the description says. No bar, or one, is said and not drawn.
    `kinds` says what a kind of bar stands for.
    """
    if not rows:
        return said(title, "nothing")
    if len(rows) == 1:
        return said(title, f"{rows[0].label}: {number(rows[0].value)}")
    drawn = rows[:most]
    longest = max(drawn, key=lambda row: row.value)
    rest = len(rows) - len(drawn)
    description = (
        f"{len(drawn):,} bars, the longest {longest.label} with "
        f"{number(longest.value)}."
    )
    if rest:
        title = f"{title} (first {most:,} of {len(rows):,})"
        description += f" {rest:,} more are in the table only."
    return figure(
        name,
        title,
        description,
        height=len(drawn) * _BAR_ROW,
        parts=[
            _drawn(row, at * _BAR_ROW, longest.value) for at, row in enumerate(drawn)
        ],
        head=("", noun, *([""] * bool(kinds))),
        rows=[
            (row.label, number(row.value), *([kinds.get(row.kind, "")] * bool(kinds)))
            for row in rows
        ],
        legend=_legend(drawn, kinds),
    )


def _legend(drawn: Sequence[Bar], kinds: Mapping[str, str]) -> str:
    """Return what the kinds of bars that are drawn stand for."""
    found = {row.kind for row in drawn}
    entries = "".join(
        f'<span><svg aria-hidden="true" width="{_BAR}" height="{_BAR}">'
        f'<rect class="{kind}" width="{_BAR}" height="{_BAR}"/></svg> '
        f"{shown(meaning)}</span>"
        for kind, meaning in kinds.items()
        if kind in found
    )
    return f'<p class="plot-legend">{entries}</p>' if entries else ""


def _drawn(row: Bar, y: int, longest: int) -> str:
    """Return the label, the number and the bar of a row."""
    kind = row.kind if row.kind in KINDS else KINDS[0]
    width = max(row.value / max(longest, 1), 0.002 if row.value else 0)
    text_y = y + _BAR_TEXT - 5
    return (
        f'<svg x="0" width="80%" y="{y}" height="{_BAR_TEXT + 2}">'
        f'<text x="0" y="{_BAR_TEXT - 5}">{shown(row.label)}</text></svg>'
        f'<text x="100%" y="{text_y}" text-anchor="end">{number(row.value)}</text>'
        f'<rect class="{kind}" x="0" y="{y + _BAR_TEXT}" width="{percent(width)}" '
        f'height="{_BAR}"><title>{shown(row.label)}: {number(row.value)}</title></rect>'
    )


#: Pixels: the height of the tallest bar, and the room above and below.
_HEIGHT, _TOP, _BOTTOM = 140, 18, 20
#: Pixels of a digit, between a count and the bars, and of a narrow chart.
_DIGIT, _GAP, _NARROW = 7, 6, 330
#: Labels below the axis.
_LABELS = 5


def histogram(
    name: str, title: str, bins: Sequence[Bin], unit: str = "", *, noun: str = "values"
) -> str:
    """Return a histogram as HTML: a bar for each bin, all of one width.

    Bins that double, such as those of `LengthCounts`, give a logarithmic axis. `name`
    is an id that is unique on the page, `unit` follows the numbers on the axis, and
    `noun` says what is counted. No number, or numbers that are all in one bin, are said
    and not drawn.
    """
    total = sum(one.count for one in bins)
    filled = [one for one in bins if one.count]
    if not filled:
        return said(title, f"no {noun}")
    if len(filled) == 1:
        counted = with_noun(total, noun)
        return said(title, f"{counted}, {_range(filled[0], unit)}")
    most = max(one.count for one in bins)
    top = next(one for one in bins if one.count == most)
    description = (
        f"A histogram of {with_noun(total, noun)} in {len(bins)} bins, from "
        f"{_range(filled[0], unit)} to {_range(filled[-1], unit)}. The fullest bin, "
        f"{_range(top, unit)}, has {most:,}."
    )
    start = _start(most)
    head = (f"from{f' ({unit})' if unit else ''}", "to below", noun)
    rows = [(number(one.low), number(one.high), f"{one.count:,}") for one in filled]
    return figure(
        name,
        title,
        description,
        height=_TOP + _HEIGHT + _BOTTOM,
        parts=[
            *_lines(most, start),
            *_bars(bins, most, unit, start),
            *_axis(bins, unit, start),
        ],
        head=head,
        rows=rows,
    )


def _range(one: Bin, unit: str) -> str:
    """Return the numbers of a bin in words."""
    suffix = f" {unit}" if unit else ""
    whole = isinstance(one.low, int) and isinstance(one.high, int)
    if one.low == one.high or (whole and one.high == one.low + 1):
        return f"{number(one.low)}{suffix}"
    high = one.high - 1 if whole else one.high
    return f"{number(one.low)} to {number(high)}{suffix}"


def _levels(most: int) -> list[tuple[int, float]]:
    """Return round counts with the pixels from the top at which they are."""
    return [
        (int(count), _TOP + _HEIGHT * (1 - count / most))
        for count in ticks(0, most, 3)
        if count == int(count)
    ]


def _start(most: int) -> float:
    """Return the share of the width that the counts need beside the bars."""
    longest = max(len(_short(count)) for count, _ in _levels(most))
    return (longest * _DIGIT + _GAP) / _NARROW


def _short(count: int) -> str:
    """Return a round count for the axis, such as `20k`."""
    for name, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count / size:,g}{name}"
    return f"{count:,}"


def _lines(most: int, start: float) -> list[str]:
    """Return a horizontal line at each round count, which stands beside the bars."""
    drawn = []
    for count, y in _levels(most):
        drawn.append(
            f'<line class="grid" x1="{percent(start)}" x2="100%" y1="{y:.1f}" '
            f'y2="{y:.1f}"/><text class="soft" x="{percent(start)}" dx="-{_GAP}" '
            f'y="{y + 4:.1f}" text-anchor="end">{_short(count)}</text>'
        )
    return drawn


def _bars(bins: Sequence[Bin], most: int, unit: str, start: float) -> list[str]:
    """Return a bar for each bin that is not empty, with its numbers as a tooltip."""
    width = (1 - start) / len(bins)
    drawn = []
    for at, one in enumerate(bins):
        if not one.count:
            continue
        height = max(1.0, _HEIGHT * one.count / most)
        drawn.append(
            f'<rect class="mark" stroke-width="0" x="{percent(start + at * width)}" '
            f'y="{_TOP + _HEIGHT - height:.1f}" width="{percent(width * 0.92)}" '
            f'height="{height:.1f}"><title>{shown(_range(one, unit))}: {one.count:,}'
            "</title></rect>"
        )
    return drawn


def _axis(bins: Sequence[Bin], unit: str, start: float) -> list[str]:
    """Return the edges of some bins below the bars, evenly spread."""
    edges = [*(one.low for one in bins), bins[-1].high]
    last = len(edges) - 1
    chosen = sorted(
        {round(last * at / (_LABELS - 1)) for at in range(_LABELS)}
        if last >= _LABELS
        else set(range(len(edges)))
    )
    y = _TOP + _HEIGHT + 15
    return [
        anchored(
            start + (1 - start) * at / last,
            y,
            number(edges[at]) + (f" {unit}" if unit and at == last else ""),
        )
        for at in chosen
    ]


#: Pixels of a row: the line with its label, and all of it.
_DOT_TEXT, _DOT_ROW = 18, 42
#: The dashes of vertical lines: none of them is at the label of a row.
_GRID, _ZERO = "21 21", "4 3 4 3 4 24"
_AXIS = 22
#: Code points of what hollow dots are.
_MEANING = 300
_DOT = 5
#: The difference of two such numbers is finite.
_GREATEST = 1e300


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its interval; None for what is unknown, which `remark` explains."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    remark: str = ""
    #: Whether its dot is hollow: a part of another row, or no sure difference.
    is_hollow: bool = False


def intervals(  # noqa: PLR0913 - all but the rows are about the look
    name: str,
    title: str,
    rows: Sequence[Interval],
    *,
    zero: bool = False,
    scale: tuple[float, float] | None = None,
    digits: int = 4,
    meaning: str = "",
    most: int = 40,
) -> str:
    """Return rows as HTML, each with a dot at its number and a line over its interval.

    They share one axis, which includes 0 and marks it if `zero`: for differences. It
    has the whole `scale` if the numbers have one, and else not much more than they.
    Numbers have `digits` decimals. `meaning` says above the chart what hollow dots
    are. A row without a number or an interval says so; rows behind the first `most` are
    in the table only. If no row has a number, that is said and nothing is drawn.
    """
    if all(_on_axis(row.value) is None for row in rows):
        return said(title, "no row has a number")
    drawn = [
        replace(
            row,
            value=_on_axis(row.value),
            low=_on_axis(row.low),
            high=_on_axis(row.high),
        )
        for row in rows[:most]
    ]
    numbers = [
        one
        for row in drawn
        for one in (row.value, row.low, row.high)
        if one is not None
    ]
    if not numbers:
        numbers = [0.0]
    low, high = _span([*numbers, *(scale or ())], zero=zero, is_whole=scale is not None)
    floor = len(drawn) * _DOT_ROW
    parts = []
    for tick in ticks(low, high):
        share = (tick - low) / (high - low)
        parts.append(_vertical(share, floor, "grid", _GRID))
        parts.append(anchored(share, floor + 15, f"{tick:g}"))
    if zero:
        parts.append(_vertical(-low / (high - low), floor, "zero", _ZERO))
    for place, row in enumerate(drawn):
        parts += _dot_row(row, place * _DOT_ROW, low, high, digits)
    rest = len(rows) - len(drawn)
    more = f" {rest:,} more are in the table only." if rest else ""
    description = (
        f"{len(drawn):,} rows on an axis from {low:.4g} to {high:.4g}, each with a dot "
        f"at its number and a line over its interval.{more}"
    )
    table = [
        (
            row.label,
            *(_text(one, digits) for one in (row.value, row.low, row.high)),
            row.remark,
        )
        for row in rows
    ]
    head = ("", "value", "low", "high", "remark")
    description += f" {meaning}" if meaning else ""
    legend = f'<p class="plot-legend">{shown(meaning, _MEANING)}</p>' if meaning else ""
    return figure(
        name,
        title,
        description,
        height=floor + _AXIS,
        parts=parts,
        head=head,
        rows=table,
        legend=legend,
    )


def _on_axis(value: float | None) -> float | None:
    """Return a number, None for one that is not finite or too great for an axis."""
    return value if value is not None and abs(value) <= _GREATEST else None


def _span(
    numbers: Sequence[float], *, zero: bool, is_whole: bool
) -> tuple[float, float]:
    """Return the ends of an axis with all numbers, a little wider unless `is_whole`."""
    low, high = min(numbers), max(numbers)
    if is_whole:
        return low, high
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return low - room, high + room


def _text(value: float | None, digits: int) -> str:
    return "none" if value is None else f"{value:.{digits}f}"


def _vertical(share: float, floor: int, kind: str, dashes: str) -> str:
    """Return a line from the first marks to the axis, at a share of the width."""
    return (
        f'<line class="{kind}" stroke-dasharray="{dashes}" x1="{percent(share)}" '
        f'x2="{percent(share)}" y1="{_DOT_TEXT}" y2="{floor}"/>'
    )


def _dot_row(
    row: Interval, y: float, low: float, high: float, digits: int
) -> list[str]:
    """Return the label, the number, the line and the dot of a row."""
    end = _text(row.value, digits)
    if row.low is None or row.high is None:
        end += " (no interval)"
    else:
        end += f" [{row.low:.{digits}f}, {row.high:.{digits}f}]"
    middle = y + (_DOT_TEXT + _DOT_ROW) / 2
    label = (
        f'<svg x="0" width="50%" y="{y:g}" height="{_DOT_TEXT}">'
        f'<text x="0" y="{_DOT_TEXT - 5}">{shown(row.label)}</text></svg>'
    )
    values = (
        f'<text class="soft" x="100%" y="{y + _DOT_TEXT - 5:g}" text-anchor="end">'
        f"{shown(end)}</text>"
    )
    parts = [label, values]

    def at(value: float) -> str:
        return percent((value - low) / (high - low))

    if row.low is not None and row.high is not None:
        parts.append(
            f'<line class="reach" x1="{at(row.low)}" x2="{at(row.high)}" '
            f'y1="{middle:g}" y2="{middle:g}"/>'
        )
        parts += [
            f'<line class="reach" x1="{at(side)}" x2="{at(side)}" '
            f'y1="{middle - 4:g}" y2="{middle + 4:g}"/>'
            for side in (row.low, row.high)
        ]
    if row.value is not None:
        kind = "hollow" if row.is_hollow else "mark"
        parts.append(
            f'<circle class="{kind}" stroke-width="2" cx="{at(row.value)}" '
            f'cy="{middle:g}" r="{_DOT}"><title>{shown(row.label)}: {shown(end)}'
            "</title></circle>"
        )
    return parts


_VARIABLES = """
:root {
  color-scheme: light dark;
  --plot-ink: #1f2328;
  --plot-muted: #59636e;
  --plot-grid: #d1d9e0;
  --plot-mark: #0b5cad;
  --plot-strong: #b3261e;
  --plot-middle: #b57614;
  --plot-surface: #ffffff;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --plot-ink: #e6edf3;
    --plot-muted: #9da7b3;
    --plot-grid: #3d444d;
    --plot-mark: #6cb0f5;
    --plot-strong: #ff8a80;
    --plot-middle: #e3b341;
    --plot-surface: #0f1419;
  }
}
"""
_RULES = """
.plot { margin: 0 0 1rem; max-width: 46rem; break-inside: avoid; }
.plot > figcaption { font-weight: 600; margin: 0 0 .35rem; overflow-wrap: anywhere; }
.plot > svg { display: block; overflow: visible; color: var(--plot-ink); }
.plot-legend {
  display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0 0 .35rem;
  font-size: .8rem;
}
.plot svg text {
  fill: currentColor; font: 12px system-ui, sans-serif;
  paint-order: stroke; stroke: var(--plot-surface); stroke-width: 3px;
}
.plot svg .soft { fill: var(--plot-muted); }
.plot svg .grid { stroke: var(--plot-grid); stroke-width: 1; }
.plot svg .zero { stroke: var(--plot-muted); stroke-width: 1; }
.plot svg .mark { fill: var(--plot-mark); stroke: var(--plot-mark); }
.plot svg .error { fill: var(--plot-strong); stroke: var(--plot-strong); }
.plot svg .warning {
  fill: var(--plot-middle); stroke: var(--plot-middle); fill-opacity: .45;
}
.plot svg .note { fill: var(--plot-surface); stroke: var(--plot-muted); }
.plot svg .hollow { fill: var(--plot-surface); stroke: var(--plot-mark); }
.plot svg .reach { stroke: var(--plot-mark); stroke-width: 2; }
.plot-numbers { margin: .35rem 0 0; }
.plot-numbers > summary { color: var(--plot-muted); cursor: pointer; font-size: .8rem; }
.plot-numbers table { font-size: .8rem; }
.plot-numbers td, .plot-numbers th { text-align: right; padding: .1rem .6rem; }
.plot-numbers td:first-child, .plot-numbers th:first-child { text-align: left; }
.plot-numbers td { overflow-wrap: anywhere; }
.plot-said { color: var(--plot-muted); }
@media print {
  .plot svg rect, .plot svg circle, .plot svg line {
    print-color-adjust: exact; -webkit-print-color-adjust: exact;
  }
}
"""

#: CSS for a page with charts. A page may set the variables itself, behind this.
STYLE = _VARIABLES + _RULES

#: The class of an element around charts on a page of others, such as a notebook.
EMBEDDED = "harpia-formats-charts"
#: CSS for charts in such an element, and for nothing else on the page: it has the text
#: colour of the page, and colours that can be seen on white and on black.
EMBEDDED_STYLE = f"""
.{EMBEDDED} {{
  --plot-ink: currentcolor;
  --plot-muted: #7d858f;
  --plot-grid: rgba(128, 128, 128, .35);
  --plot-mark: #3585cb;
  --plot-strong: #d9534a;
  --plot-middle: #b57614;
  --plot-surface: var(--jp-layout-color0, var(--vscode-editor-background, transparent));
{_RULES}}}
"""
