"""Pictures of the scores of answers by model: their distribution, and by length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.figures.answer_counts import (
    AnswerCounts,
    ScoreCounts,
    ScoreOfAnswers,
)
from harpia_formats.evaluation.figures.drawing import (
    GRID,
    MUTED,
    SERIES,
    SMALL,
    SURFACE,
    Drawing,
    FigureError,
    Grid,
    described,
    first_of,
    grid_of,
    label,
    share_axis,
    write_in,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.bins import low_of

DISTRIBUTIONS_TITLE = "Scores of single answers"
#: Rows and columns of one picture.
DISTRIBUTIONS_MOST_ROWS, DISTRIBUTIONS_MOST_COLUMNS = 50, 4
#: Answers of a model without a score, or with one, cannot be distributed.
_FEWEST = 2
_ALL = "all answers"


def draw_distributions(scores: Scores, counts: AnswerCounts) -> Drawing:
    """Return a histogram for each score and model; call it within `settings`."""
    chosen = chosen_scores(
        scores, counts, DISTRIBUTIONS_MOST_ROWS, DISTRIBUTIONS_MOST_COLUMNS
    )
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
    description = described(_distribution_sentences(chosen))
    return Drawing(figure, DISTRIBUTIONS_TITLE, description, tuple(notes))


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
            "some, such as `--metrics f1`"
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


def _distribution_sentences(chosen: ChosenScores) -> Iterator[str]:
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


LENGTHS_TITLE = "Scores of answers by their length"
#: Rows and columns of one picture.
LENGTHS_MOST_ROWS, LENGTHS_MOST_COLUMNS = 20, 4
#: Answers of about one length that have a mean.
FEWEST = 5
#: Numbers on the axis, and the part of a panel that the bars take.
_TICKS, _BARS = 4, 0.3


def draw_lengths(scores: Scores, counts: AnswerCounts) -> Drawing:
    """Return mean scores by length, for each model; call it within `settings`."""
    chosen = chosen_scores(scores, counts, LENGTHS_MOST_ROWS, LENGTHS_MOST_COLUMNS)
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
    description = described(_length_sentences(chosen))
    return Drawing(figure, LENGTHS_TITLE, description, tuple(notes))


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


def _length_sentences(chosen: ChosenScores) -> Iterator[str]:
    """Yield the means in words."""
    for place, cell in chosen.places():
        found = [
            f"{mean:.4f} for {_low(at):,} to {_low(at + 1) - 1:,}"
            for at, mean in _means(cell)
        ]
        if found:
            yield f"{place} by characters: {', '.join(found)}."
