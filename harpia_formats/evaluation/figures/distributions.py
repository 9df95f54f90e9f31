"""A picture of how the scores of single answers are distributed, by model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.figures.answer_counts import (
    AnswerCounts,
    ScoreCounts,
    ScoreOfAnswers,
)
from harpia_formats.evaluation.figures.drawing import (
    Drawing,
    described,
    first_of,
    label,
)
from harpia_formats.evaluation.figures.grid import Grid, grid_of, share_axis, write_in
from harpia_formats.evaluation.figures.library import FigureError
from harpia_formats.evaluation.figures.look import SERIES, SURFACE
from harpia_formats.evaluation.scoring.scores import Scores

TITLE = "Scores of single answers"
#: Rows and columns of one picture.
MOST_ROWS, MOST_COLUMNS = 50, 4
#: Answers of a model without a score, or with one, cannot be distributed.
_FEWEST = 2
_ALL = "all answers"


def draw_distributions(scores: Scores, counts: AnswerCounts) -> Drawing:
    """Return a histogram for each score and model; call it within `settings`."""
    chosen = chosen_scores(scores, counts, MOST_ROWS, MOST_COLUMNS)
    cells, notes = chosen.cells, chosen.notes
    few = [
        f"{place} ({cell.answers:,})"
        for place, cell in chosen.places()
        if cell.answers < _FEWEST
    ]
    if few:
        notes.append(f"not drawn (less than two answers): {first_of(few)}")
    beyond = sum(cell.values.beyond for of_row in cells for cell in of_row)
    if beyond:
        notes.append(f"{beyond:,} scores beyond their scale are in the bar at its end")
    caption = [
        "Bars are shares of the answers with a score. A triangle is their mean.",
        *(f"\u2013 {note}" for note in notes),
    ]
    axis = "score of an answer"
    figure, axes = grid_of(Grid(chosen.rows, chosen.columns, 0.55, axis, caption))
    for at in range(len(chosen.columns)):
        _draw_column([row[at] for row in axes], [row[at] for row in cells])
    description = described(_sentences(chosen))
    return Drawing(figure, TITLE, description, tuple(notes))


Cells = Sequence[Sequence[ScoreCounts]]


@dataclass(frozen=True, slots=True)
class ChosenScores:
    """The models and scores of answers that are drawn, with their counts."""

    rows: list[str]
    columns: list[str]
    scores: list[ScoreOfAnswers]
    cells: Cells
    #: What is not drawn, in sentences.
    notes: list[str]

    def places(self) -> Iterator[tuple[str, ScoreCounts]]:
        """Yield the counts of each score of each model, with the names of both."""
        for row, of_row in zip(self.rows, self.cells, strict=True):
            for column, cell in zip(self.columns, of_row, strict=True):
                yield f"{column} of {row}", cell


def chosen_scores(
    scores: Scores, counts: AnswerCounts, most_rows: int, most_columns: int
) -> ChosenScores:
    """Return what is drawn of the scores of answers; raises `FigureError` if nothing.

    A metric may have scores of many answers or of questions only, such as f1-macro.
    """
    rows = [label(", ".join(one.key.values())) or _ALL for one in scores.systems]
    of_systems = counts.of_systems()
    places = [
        at
        for at in range(len(counts.scores))
        if any(of_system[at].answers for of_system in of_systems)
    ]
    if not places:
        raise FigureError(
            "there is no score of single answers to draw: score a metric that has "
            "some, such as --metrics f1"
        )
    notes = []
    if len(rows) > most_rows:
        notes.append(f"the first {most_rows:,} of {len(rows):,} models are drawn")
    if len(places) > most_columns:
        notes.append(f"the first {most_columns:,} of {len(places):,} scores are drawn")
    places = places[:most_columns]
    drawn = [counts.scores[at] for at in places]
    cells = [[of_system[at] for at in places] for of_system in of_systems[:most_rows]]
    columns = [label(one.label) for one in drawn]
    return ChosenScores(rows[:most_rows], columns, drawn, cells, notes)


def _draw_column(axes: Sequence[Any], cells: Sequence[ScoreCounts]) -> None:
    """Draw the histograms of one score, which share their axes."""
    drawn = [cell for cell in cells if cell.answers >= _FEWEST]
    bins = [cell.values.bins() for cell in drawn]
    every = [one for of_cell in bins for one in of_cell]
    low = min((one.low for one in every), default=0.0)
    high = max((one.high for one in every), default=1.0)
    room = (high - low) * 0.02 or 0.5
    share = max(
        (
            one.count / cell.answers
            for cell, of_cell in zip(drawn, bins, strict=True)
            for one in of_cell
        ),
        default=0.0,
    )
    share_axis(axes, share, share * 1.08, "answers")
    for one, cell in zip(axes, cells, strict=True):
        one.set_xlim(low - room, high + room)
        if not drawn:
            one.set_xticks([])
        if cell.answers < _FEWEST:
            sentence = "one answer" if cell.answers else "no answer has a score"
            write_in(one, sentence)
            continue
        _draw_bars(one, cell, (high - low + 2 * room) * 0.02)


def _draw_bars(axes: Any, cell: ScoreCounts, least: float) -> None:
    """Draw one histogram, whose bars are at least so wide, and a mark at its mean."""
    for one in filter(lambda one: one.count, cell.values.bins()):
        width = max(one.high - one.low, least)
        axes.bar(
            (one.low + one.high) / 2,
            one.count / cell.answers,
            width,
            color=SERIES[0][0],
            edgecolor=SURFACE,
            lw=0.6,
        )
    axes.plot([cell.mean], [0], marker="^", color=SERIES[1][0], clip_on=False, ms=5.5)


def _sentences(chosen: ChosenScores) -> Iterator[str]:
    """Yield the distributions in words."""
    for place, cell in chosen.places():
        if cell.answers < _FEWEST:
            continue
        filled = [one for one in cell.values.bins() if one.count]
        top = max(filled, key=lambda one: one.count)
        yield (
            f"{place}: mean {cell.mean:.4f} of {cell.answers:,} answers, "
            f"from {filled[0].low:.4g} to {filled[-1].high:.4g}; "
            f"{100 * top.count / cell.answers:.0f} % are from {top.low:.4g} to "
            f"{top.high:.4g}."
        )
