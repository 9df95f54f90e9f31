"""A picture of the differences between systems with their intervals."""

from collections.abc import Collection, Iterator, Sequence

from harpia_formats.evaluation.figures.drawing import (
    Drawing,
    described,
    first_of,
    label,
    shown,
)
from harpia_formats.evaluation.figures.rows import (
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
from harpia_formats.evaluation.scoring.compared import (
    ComparedScore,
    marks_of_differences,
)
from harpia_formats.model.text.words import p_text

TITLE = "Differences of scores with their intervals"


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
    found = draw_rows(chart, TITLE, described(_sentences(drawn)))
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


def _sentences(compared: Sequence[ComparedScore]) -> Iterator[str]:
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
