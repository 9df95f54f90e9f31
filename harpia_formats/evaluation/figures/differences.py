"""Pictures of differences between systems: with intervals, and question by question."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.figures.drawing import (
    INK,
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
    shown,
    write_in,
)
from harpia_formats.evaluation.figures.score_rows import (
    MOST_PANELS,
    MOST_ROWS,
    Mark,
    Panel,
    RowChart,
    draw_rows,
    interval_levels,
    remark_lines,
)
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compared_scores import (
    ComparedScore,
    marks_of_differences,
)
from harpia_formats.evaluation.scoring.metric_score import score_name
from harpia_formats.evaluation.scoring.paired_answers import (
    PARTS,
    QuestionDifferences,
)
from harpia_formats.model.describe import p_text

DIFFERENCES_TITLE = "Differences of scores with their intervals"


def draw_differences(report: ComparisonReport) -> Drawing:
    """Return the differences as rows of marks; call it within `settings`.

    A pair of systems is a row, and a score a panel. Differences that are significant
    after the adjustment for all of them are filled.
    """
    compared, arrows = report.compared, report.arrows
    pairs = list(dict.fromkeys(one.systems for one in compared))
    scores = list(dict.fromkeys((one.metric, one.name) for one in compared))
    notes = []
    if len(pairs) > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS:,} of {len(pairs):,} pairs are drawn")
    if len(scores) > MOST_PANELS:
        notes.append(f"the first {MOST_PANELS:,} of {len(scores):,} scores are drawn")
    rows = {pair: at for at, pair in enumerate(pairs[:MOST_ROWS])}
    drawn = [one for one in compared if one.systems in rows]
    panels = [
        _panel(
            [one for one in drawn if (one.metric, one.name) == score],
            rows,
            arrows.get(score, ""),
        )
        for score in scores[:MOST_PANELS]
    ]
    reasons: dict[str, list[str]] = {}
    for one in drawn:
        if one.comparison is None:
            reasons.setdefault(one.reason, []).append(_place(one))
    notes += [
        f"not drawn ({reason}): {first_of(places)}"
        for reason, places in reasons.items()
    ]
    caption = [
        *_methods(drawn, arrows.values()),
        *remark_lines(panels),
        *(f"\u2013 {note}" for note in notes),
    ]
    chart = RowChart([pair_name(pair) for pair in rows], panels, caption=caption)
    found = draw_rows(chart, DIFFERENCES_TITLE, described(_difference_sentences(drawn)))
    return Drawing(found.figure, found.title, found.description, tuple(notes))


def pair_name(pair: tuple[str, str]) -> str:
    """Return the difference of two systems as a label."""
    return " \u2212 ".join(map(label, pair))


def _place(one: ComparedScore) -> str:
    return f"{label(one.full_name)} of {pair_name(one.systems)}"


def _panel(
    compared: Sequence[ComparedScore],
    rows: dict[tuple[str, str], int],
    arrow: str,
) -> Panel:
    """Return the panel of one score; `arrow` says which of its scores are better."""
    marks, sentences = [], {}
    for one in compared:
        found, row = one.comparison, rows[one.systems]
        if found is None:
            sentences[row] = one.reason
            continue
        is_open = not one.is_significant
        marks.append(
            Mark(
                row,
                found.difference,
                found.low,
                found.high,
                is_hollow=is_open,
                remark=found.remark,
            )
        )
    title = f"{label(compared[0].full_name)} {arrow}".rstrip()
    return Panel(title, marks, has_zero=True, sentences=sentences)


def _methods(
    compared: Sequence[ComparedScore], arrows: Collection[str]
) -> Iterator[str]:
    """Yield what the lines and the looks of the marks are."""
    tested = [one for one in compared if one.comparison is not None]
    if not tested:
        yield "There is nothing to draw."
        return
    levels = interval_levels(one.comparison.method for one in tested if one.comparison)
    if levels:
        yield f"Lines are {levels} intervals of the difference by question."
    yield from marks_of_differences(tested, arrows)


def _difference_sentences(compared: Sequence[ComparedScore]) -> Iterator[str]:
    """Yield the differences in words, and how the scores were computed."""
    for one in compared:
        found = one.comparison
        if found is None:
            yield f"{_place(one)}: {one.reason}."
            continue
        p = p_text(found.p_value, is_least=found.is_least)
        remark = f", {found.remark}" if found.remark else ""
        adjusted = ""
        if one.adjusted_p is not None:
            adjusted = f", {p_text(one.adjusted_p, is_least=found.is_least)} (Holm)"
        yield (
            f"{_place(one)}: {found.difference:+.4f} ({found.low:+.4f} to "
            f"{found.high:+.4f}), p {p}{adjusted}{remark}."
        )
    for signature in dict.fromkeys(one.signature for one in compared):
        if signature:
            yield f"Signature: {shown(signature)}."


QUESTIONS_TITLE = "Differences of scores question by question"
#: Rows and columns of one picture.
QUESTIONS_MOST_ROWS, MOST_COLUMNS = 30, 4
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
            "a mean, such as `--metrics f1`"
        )
    pairs = list(dict.fromkeys(pair for pair, _ in found))
    scores = list(dict.fromkeys(score for _, score in found))
    notes = []
    if len(pairs) > QUESTIONS_MOST_ROWS:
        notes.append(
            f"the first {QUESTIONS_MOST_ROWS:,} of {len(pairs):,} pairs are drawn"
        )
    if len(scores) > MOST_COLUMNS:
        notes.append(f"the first {MOST_COLUMNS:,} of {len(scores):,} scores are drawn")
    pairs, scores = pairs[:QUESTIONS_MOST_ROWS], scores[:MOST_COLUMNS]
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
    description = described(_question_sentences(found))
    return Drawing(figure, QUESTIONS_TITLE, description, tuple(notes))


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


def _question_sentences(
    found: Mapping[tuple[tuple[str, str], str], QuestionDifferences],
) -> Iterator[str]:
    """Yield the differences in words."""
    for (pair, score), one in found.items():
        yield (
            f"{label(score)} of {pair_name(pair)}: of {one.questions:,} questions the "
            f"first system is higher on {sum(one.above):,}, the second on "
            f"{sum(one.below):,}, and neither on {one.equal:,}."
        )
