"""Panels in a grid: a row for each system, and a column for each score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.figures.drawing import (
    LINE,
    SMALL,
    add_caption,
    caption_lines,
    width_of,
)
from harpia_formats.evaluation.figures.look import MUTED

#: Inches: of a panel that is alone in its row and of others, between panels, of a
#: border, and from the upper border to the panels.
_ALONE, _PANEL, _BETWEEN, _BORDER, _ABOVE = 4.2, 2.3, 0.58, 0.12, 0.35
#: Inches between the name of a row and its first panel.
_NAME = 0.6
#: What the highest number of an axis of shares may be, times a power of ten.
_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10)
#: Inches below the panels for the numbers and the name of their axis.
_BELOW = 0.45


@dataclass(frozen=True, slots=True)
class Grid:
    """The parts of a picture that are not drawn in its panels."""

    rows: Sequence[str]
    columns: Sequence[str]
    #: Inches of a panel.
    height: float
    #: What the axis below the panels shows.
    axis: str
    caption: Sequence[str]
    #: Inches between rows.
    gap: float = 0.12


def grid_of(grid: Grid) -> tuple[Any, list[list[Any]]]:
    """Return a figure with its axes, by row and column; call it within `settings`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    panel = _ALONE if len(grid.columns) == 1 else _PANEL
    label = max(map(width_of, grid.rows), default=0) + _BORDER + _NAME + 0.05
    width = label + len(grid.columns) * (panel + _BETWEEN) - _BETWEEN + 2 * _BORDER
    caption = caption_lines(grid.caption, width - 2 * _BORDER)
    rows = len(grid.rows) * (grid.height + grid.gap)
    height = _ABOVE + rows + _BELOW + len(caption) * LINE + 0.1
    figure = Figure(figsize=(width, height))
    every = []
    for row, name in enumerate(grid.rows):
        bottom = height - _ABOVE - row * (grid.height + grid.gap) - grid.height
        axes_of_row = []
        for column, title in enumerate(grid.columns):
            left = label + column * (panel + _BETWEEN)
            axes = figure.add_axes(
                (left / width, bottom / height, panel / width, grid.height / height)
            )
            axes.tick_params(labelbottom=row == len(grid.rows) - 1)
            if not row:
                axes.set_title(title, loc="left", pad=6)
            if row == len(grid.rows) - 1:
                axes.set_xlabel(grid.axis, color=MUTED)
            axes_of_row.append(axes)
        y = (bottom + grid.height / 2) / height
        figure.text((label - _NAME) / width, y, name, ha="right", va="center_baseline")
        every.append(axes_of_row)
    add_caption(figure, caption, _BORDER)
    return figure, every


def share_axis(column: Sequence[Any], share: float, top: float, name: str) -> float:
    """Give the panels of a column one axis of shares from 0 to `top` at least.

    `share` is the highest one that is drawn, 0 if nothing is. There are lines at 0 and
    at the next round share from it on, which is returned. The numbers and the `name` of
    what is counted are beside the last panel, as those of the other axis are below it.
    """
    for axes in column:
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
    if not share:
        return 0.0
    power = 10.0 ** math.floor(math.log10(share))
    tick = next(one for one in _ROUND if share / power < one + 1e-9) * power
    for axes in column:
        is_last = axes is column[-1]
        # Above the line, half of which would be cut off otherwise.
        axes.set_ylim(0, max(top, tick * 1.02))
        axes.set_yticks(
            [0, tick], ["0", f"{100 * tick:.4g} %"] if is_last else ["", ""]
        )
        axes.tick_params(axis="y", length=0, labelsize=SMALL, labelcolor=MUTED)
        axes.grid(visible=True, axis="y")
        if is_last:
            axes.set_ylabel(name, color=MUTED, size=SMALL, labelpad=2)
    return tick


def write_in(axes: Any, sentence: str) -> None:
    """Write in an empty panel why nothing is drawn in it."""
    axes.text(
        0.02,
        0.3,
        sentence,
        transform=axes.transAxes,
        size=SMALL,
        color=MUTED,
        style="italic",
    )
