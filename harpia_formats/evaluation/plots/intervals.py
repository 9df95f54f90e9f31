"""Numbers with their intervals, a row for each: a dot and a line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harpia_formats.evaluation.plots.drawing import (
    anchored,
    figure,
    percent,
    said,
    shown,
    ticks,
)

#: Pixels of a row: the line with its label, and all of it.
_TEXT, _ROW = 18, 42
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
    floor = len(drawn) * _ROW
    parts = []
    for tick in ticks(low, high):
        share = (tick - low) / (high - low)
        parts.append(_vertical(share, floor, "grid", _GRID))
        parts.append(anchored(share, floor + 15, f"{tick:g}"))
    if zero:
        parts.append(_vertical(-low / (high - low), floor, "zero", _ZERO))
    for place, row in enumerate(drawn):
        parts += _row(row, place * _ROW, low, high, digits)
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
        f'x2="{percent(share)}" y1="{_TEXT}" y2="{floor}"/>'
    )


def _row(row: Interval, y: float, low: float, high: float, digits: int) -> list[str]:
    """Return the label, the number, the line and the dot of a row."""
    end = _text(row.value, digits)
    if row.low is None or row.high is None:
        end += " (no interval)"
    else:
        end += f" [{row.low:.{digits}f}, {row.high:.{digits}f}]"
    middle = y + (_TEXT + _ROW) / 2
    label = (
        f'<svg x="0" width="50%" y="{y:g}" height="{_TEXT}">'
        f'<text x="0" y="{_TEXT - 5}">{shown(row.label)}</text></svg>'
    )
    values = (
        f'<text class="soft" x="100%" y="{y + _TEXT - 5:g}" text-anchor="end">'
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
