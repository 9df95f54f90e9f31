"""A picture of the differences between two systems question by question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.figures.difference_rows import pair_name
from harpia_formats.figures.drawing import SMALL, Drawing, described, first_of, label
from harpia_formats.figures.grid import Grid, grid_of
from harpia_formats.figures.library import FigureError
from harpia_formats.figures.look import INK, MUTED, SERIES, SURFACE
from harpia_formats.scoring.compared import ComparedScore
from harpia_formats.scoring.question_differences import PARTS, QuestionDifferences

TITLE = "Differences of scores question by question"
#: Rows and columns of one picture.
MOST_ROWS, MOST_COLUMNS = 30, 4
_FEWEST = 2


def draw_questions(compared: Sequence[ComparedScore]) -> Drawing:
    """Return a histogram for each pair and score; call it within `settings`.

    Raises `FigureError` if no score is a mean over answers or questions.
    """
    found = {
        (one.systems, one.full_name): one.by_question
        for one in compared
        if one.by_question is not None
    }
    if not found:
        raise FigureError(
            "there is no score of single questions to draw: compare a metric that is "
            "a mean, such as --metrics f1"
        )
    pairs = list(dict.fromkeys(pair for pair, _ in found))
    scores = list(dict.fromkeys(score for _, score in found))
    notes = []
    if len(pairs) > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS:,} of {len(pairs):,} pairs are drawn")
    if len(scores) > MOST_COLUMNS:
        notes.append(f"the first {MOST_COLUMNS:,} of {len(scores):,} scores are drawn")
    pairs, scores = pairs[:MOST_ROWS], scores[:MOST_COLUMNS]
    few = [
        f"{label(score)} of {pair_name(pair)}"
        for pair in pairs
        for score in scores
        if _is_little(found.get((pair, score)))
    ]
    if few:
        notes.append(f"not drawn (less than two questions): {first_of(few)}")
    caption = [
        (
            "Bars are shares of the questions by the difference of their mean scores; "
            "the hatched one is of questions without a difference. Numbers are shares "
            "of questions on which the second system, neither and the first is higher."
        ),
        *(f"\u2013 {note}" for note in notes),
    ]
    names = [pair_name(pair) for pair in pairs]
    columns = list(map(label, scores))
    figure, axes = grid_of(Grid(names, columns, 0.75, "difference", caption))
    for row, pair in enumerate(pairs):
        for column, score in enumerate(scores):
            _draw_panel(axes[row][column], found.get((pair, score)))
    description = described(_sentences(found))
    return Drawing(figure, TITLE, description, tuple(notes))


def _is_little(found: QuestionDifferences | None) -> bool:
    return found is None or found.questions < _FEWEST


def _draw_panel(axes: Any, found: QuestionDifferences | None) -> None:
    """Draw the differences of one pair by one score."""
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    if found is None or _is_little(found):
        axes.set_xticks([])
        sentence = "one question" if found else "no question"
        axes.text(0.02, 0.3, sentence, size=SMALL, color=MUTED, style="italic")
        return
    widest, every = found.widest or 1.0, found.questions
    part = widest / PARTS
    most = max(found.equal, *found.below, *found.above) / every
    axes.set_xlim(-widest * 1.05, widest * 1.05)
    axes.set_ylim(0, most * 1.45)
    colour = SERIES[0][0]
    for at, count in enumerate((*found.below, *found.above)):
        if count:
            middle = -widest + (at + 0.5) * part
            axes.bar(
                middle, count / every, part, color=colour, edgecolor=SURFACE, lw=0.6
            )
    axes.bar(
        0,
        found.equal / every,
        part * 0.4,
        color=SURFACE,
        edgecolor=MUTED,
        hatch="////",
        lw=0.8,
        zorder=2,
    )
    axes.plot([0, 0], [0, most * 1.1], color=MUTED, lw=0.6, zorder=0.5)
    shares = [sum(found.below), found.equal, sum(found.above)]
    for x, count, side in zip(
        (0.01, 0.5, 0.99), shares, ("left", "center", "right"), strict=True
    ):
        axes.text(
            x,
            1,
            f"{100 * count / every:.0f} %",
            transform=axes.transAxes,
            ha=side,
            va="top",
            size=SMALL,
            color=INK,
        )


def _sentences(
    found: Mapping[tuple[tuple[str, str], str], QuestionDifferences],
) -> Iterator[str]:
    """Yield the differences in words."""
    for (pair, score), one in found.items():
        yield (
            f"{label(score)} of {pair_name(pair)}: of {one.questions:,} questions the "
            f"first system is higher on {sum(one.above):,}, the second on "
            f"{sum(one.below):,}, and neither on {one.equal:,}."
        )
