"""Histograms of numbers that were counted in bins."""

from collections.abc import Sequence

from harpia_formats.evaluation.plots.drawing import (
    anchored,
    figure,
    number,
    percent,
    said,
    shown,
    ticks,
    with_noun,
)
from harpia_formats.model.bins import Bin

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
