"""Panels in a grid: a row for each system, and a column for each score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.figures.drawing import LINE, add_caption, caption_lines, width_of
from harpia_formats.figures.look import MUTED

#: Inches: of a panel that is alone in its row and of others, between panels, of a
#: border, and from the upper border to the panels.
_ALONE, _PANEL, _BETWEEN, _BORDER, _ABOVE = 4.2, 2.3, 0.5, 0.12, 0.35
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


def grid_of(grid: Grid) -> tuple[Any, list[list[Any]]]:
    """Return a figure with its axes, by row and column; call it within `settings`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    panel = _ALONE if len(grid.columns) == 1 else _PANEL
    label = max(map(width_of, grid.rows), default=0) + _BORDER + 0.5
    width = label + len(grid.columns) * (panel + _BETWEEN) - _BETWEEN + 2 * _BORDER
    caption = caption_lines(grid.caption, width - 2 * _BORDER)
    gap = 0.12
    rows = len(grid.rows) * (grid.height + gap)
    height = _ABOVE + rows + _BELOW + len(caption) * LINE + 0.1
    figure = Figure(figsize=(width, height))
    every = []
    for row, name in enumerate(grid.rows):
        bottom = height - _ABOVE - row * (grid.height + gap) - grid.height
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
        figure.text((label - 0.45) / width, y, name, ha="right", va="center_baseline")
        every.append(axes_of_row)
    add_caption(figure, caption, _BORDER)
    return figure, every
