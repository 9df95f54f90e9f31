"""A picture of the scores of answers by their length, for each model."""

from collections.abc import Iterator, Sequence
from typing import Any

from harpia_formats.evaluation.figures.answer_counts import AnswerCounts, ScoreCounts
from harpia_formats.evaluation.figures.distributions import ChosenScores, chosen_scores
from harpia_formats.evaluation.figures.drawing import (
    SMALL,
    Drawing,
    described,
    first_of,
)
from harpia_formats.evaluation.figures.grid import Grid, grid_of
from harpia_formats.evaluation.figures.look import GRID, MUTED, SERIES
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.bins import low_of

TITLE = "Scores of answers by their length"
#: Rows and columns of one picture.
MOST_ROWS, MOST_COLUMNS = 20, 4
#: Answers of about one length that have a mean.
FEWEST = 5
#: Numbers on the axis, and the part of a panel that the bars take.
_TICKS, _BARS = 4, 0.3


def draw_lengths(scores: Scores, counts: AnswerCounts) -> Drawing:
    """Return mean scores by length, for each model; call it within `settings`."""
    chosen = chosen_scores(scores, counts, MOST_ROWS, MOST_COLUMNS)
    cells, notes = chosen.cells, chosen.notes
    empty = [place for place, cell in chosen.places() if not _means(cell)]
    if empty:
        notes.append(
            f"not drawn (no length that {FEWEST} answers have): {first_of(empty)}"
        )
    caption = [
        (
            "Dots are means of the answers of about the same length, and bars are how "
            "many these are. The axis of lengths is logarithmic: two bars double them. "
            f"Fewer than {FEWEST} answers have no dot. The means have no intervals, so "
            "that single dots may differ by chance."
        ),
        *(f"\u2013 {note}" for note in notes),
    ]
    axis = "characters of the answer"
    figure, axes = grid_of(Grid(chosen.rows, chosen.columns, 1.1, axis, caption))
    indices = {at for row in cells for cell in row for at in cell.lengths}
    for column, score in enumerate(chosen.scores):
        of_column = [row[column] for row in cells]
        means = [mean for cell in of_column for _, mean in _means(cell)]
        ends = means if score.best is None else [0.0, score.best]
        for row, cell in enumerate(of_column):
            _draw_panel(axes[row][column], cell, ends, sorted(indices))
    description = described(_sentences(chosen))
    return Drawing(figure, TITLE, description, tuple(notes))


def _means(cell: ScoreCounts) -> list[tuple[int, float]]:
    """Return the index of each length that enough answers have, with their mean."""
    return [
        (at, of_length.mean)
        for at, of_length in sorted(cell.lengths.items())
        if of_length.answers >= FEWEST
    ]


def _draw_panel(
    axes: Any, cell: ScoreCounts, ends: Sequence[float], indices: Sequence[int]
) -> None:
    """Draw the mean score and the number of answers by length.

    The axis of scores has `ends`, and that of lengths all `indices`.
    """
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = (high - low) * 0.1 or abs(high) * 0.1 or 0.5
    bottom = low - room - _BARS * (high - low + 2 * room)
    axes.set_ylim(bottom, high + room)
    first, last = (indices[0], indices[-1]) if indices else (0, 1)
    axes.set_xlim(first - 0.6, last + 0.6)
    step = max(1, -(-(last + 1 - first) // _TICKS))
    edges = range(first, last + 2, step)
    axes.set_xticks([at - 0.5 for at in edges], [f"{_low(at):,}" for at in edges])
    axes.grid(visible=True, axis="y")
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(axis="y", length=0, labelsize=SMALL, labelcolor=MUTED)
    axes.spines["left"].set_visible(False)
    found = _means(cell)
    if not found:
        axes.set_yticks([])
        sentence = f"no length that {FEWEST} answers have"
        axes.text(first, high, sentence, size=SMALL, color=MUTED, style="italic")
        return
    most = max(of_length.answers for of_length in cell.lengths.values())
    full = _BARS * (high + room - bottom)
    for at, of_length in sorted(cell.lengths.items()):
        height = full * of_length.answers / most
        axes.bar(at, height, 0.9, bottom=bottom, color=GRID, zorder=1.5)
    colour, shape = SERIES[0]
    axes.plot(*zip(*found, strict=True), color=colour, marker=shape, ms=4.5, lw=1.4)


def _low(index: int) -> int:
    """Return the least length of a pair of bins."""
    return low_of(2 * index)


def _sentences(chosen: ChosenScores) -> Iterator[str]:
    """Yield the means in words."""
    for place, cell in chosen.places():
        found = [
            f"{mean:.4f} for {_low(at):,} to {_low(at + 1) - 1:,}"
            for at, mean in _means(cell)
        ]
        if found:
            yield f"{place} by characters: {', '.join(found)}."
