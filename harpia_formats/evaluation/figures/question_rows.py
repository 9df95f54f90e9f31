"""A picture of the differences between two systems question by question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.figures.difference_rows import pair_name
from harpia_formats.evaluation.figures.drawing import (
    SMALL,
    Drawing,
    described,
    first_of,
    label,
)
from harpia_formats.evaluation.figures.grid import Grid, grid_of, share_axis, write_in
from harpia_formats.evaluation.figures.library import FigureError
from harpia_formats.evaluation.figures.look import INK, MUTED, SERIES, SURFACE
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.metric_score import score_name
from harpia_formats.evaluation.scoring.question_differences import (
    PARTS,
    QuestionDifferences,
)

TITLE = "Differences of scores question by question"
#: Rows and columns of one picture.
MOST_ROWS, MOST_COLUMNS = 30, 4
_FEWEST = 2


def draw_questions(report: ComparisonReport) -> Drawing:
    """Return a histogram for each pair and score; call it within `settings`.

    Raises `FigureError` if no score is a mean over answers or questions.
    """
    found = {
        (one.systems, one.full_name): one.by_question
        for one in report.compared
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
            "of questions on which the second system (\u2190), neither (=) and the "
            "first (\u2192) is higher."
        ),
        *(f"\u2013 {note}" for note in notes),
    ]
    names = [pair_name(pair) for pair in pairs]
    arrows = {score_name(*names): arrow for names, arrow in report.arrows.items()}
    columns = [f"{label(score)} {arrows[score]}".rstrip() for score in scores]
    figure, axes = grid_of(Grid(names, columns, 0.75, "difference", caption, 0.2))
    for column, score in enumerate(scores):
        of_column = [row[column] for row in axes]
        _draw_column(of_column, [found.get((pair, score)) for pair in pairs])
    description = described(_sentences(found))
    return Drawing(figure, TITLE, description, tuple(notes))


def _is_little(found: QuestionDifferences | None) -> bool:
    return found is None or found.questions < _FEWEST


def _draw_column(
    axes: Sequence[Any], found: Sequence[QuestionDifferences | None]
) -> None:
    """Draw the differences of all pairs by one score, which share their axes."""
    drawn = [one for one in found if one is not None and not _is_little(one)]
    share = max(map(_most, drawn), default=0.0)
    widest = max((one.widest for one in drawn), default=0.0) or 1.0
    line = share_axis(axes, share, share * 1.35, "questions")
    for panel, one in zip(axes, found, strict=True):
        panel.set_xlim(-widest * 1.05, widest * 1.05)
        if not drawn:
            panel.set_xticks([])
        if one is None or _is_little(one):
            write_in(panel, "one question" if one else "no question")
        else:
            _draw_panel(panel, one, widest, share, line)


def _most(found: QuestionDifferences) -> float:
    """Return the share of questions of the highest bar."""
    return max(found.equal, *found.below, *found.above) / found.questions


def _draw_panel(
    axes: Any, found: QuestionDifferences, widest: float, share: float, line: float
) -> None:
    """Draw the differences of one pair.

    `widest` is the widest difference of all pairs, `share` that of the highest bar, and
    `line` that of the line above it.
    """
    every, most = found.questions, _most(found)
    # Without a known scale, the parts are those of the widest difference of the pair.
    mine = found.widest or widest
    part = mine / PARTS
    edge = 0.6 if part > widest / PARTS * 0.4 else 0
    colour = SERIES[0][0]
    for at, count in enumerate((*found.below, *found.above)):
        if count:
            middle = -mine + (at + 0.5) * part
            axes.bar(
                middle, count / every, part, color=colour, edgecolor=SURFACE, lw=edge
            )
    axes.bar(
        0,
        found.equal / every,
        max(part * 0.4, widest * 0.01),
        color=SURFACE,
        edgecolor=MUTED,
        hatch="////",
        lw=0.8,
        zorder=2,
    )
    axes.plot([0, 0], [0, most], color=MUTED, lw=0.6, zorder=0.5)
    below, equal, above = (
        f"{100 * count / every:.0f} %"
        for count in (sum(found.below), found.equal, sum(found.above))
    )
    # Near the bars, and far from the axis of the row above.
    y = most + share * 0.1
    if most + share * 0.05 < line < most + share * 0.3:
        # The line would cross the numbers.
        y = line + share * 0.06
    paper = {"fc": SURFACE, "ec": "none", "pad": 0.6}
    for x, text, side in (
        (-widest, f"\u2190 {below}", "left"),
        (0, f"= {equal}", "center"),
        (widest, f"{above} \u2192", "right"),
    ):
        axes.text(x, y, text, ha=side, size=SMALL, color=INK, bbox=paper)


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
