"""A picture of scores with their intervals, by model and group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harpia_formats.conversion.mapping.answer_groups import MODEL
from harpia_formats.evaluation.figures.drawing import (
    Drawing,
    described,
    first_of,
    label,
    shown,
)
from harpia_formats.evaluation.figures.look import SERIES
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
from harpia_formats.evaluation.scoring.metric_score import (
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.stored_score import LIMITS

TITLE = "Scores with their intervals"
#: Stands for all answers, and for a value that is the empty text.
_ALL, _EMPTY = "all answers", "(empty)"


@dataclass(frozen=True, slots=True)
class _Row:
    """The groups of one row: one for each series, None where there is none."""

    label: str
    groups: Sequence[Group | None]


def draw_scores(scores: Scores) -> Drawing:
    """Return the scores as rows of marks; call it within `settings`.

    Models are rows; if there are groups, these are the rows and the models differ by
    shape and colour, as long as there are enough of them.
    """
    rows, series = _rows(scores)
    names = list(
        dict.fromkeys(
            (one.metric, one.name)
            for row in rows
            for group in row.groups
            if group is not None
            for one in group.scores
        )
    )
    notes: list[str] = []
    if len(rows) > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS:,} of {len(rows):,} rows are drawn")
    if len(names) > MOST_PANELS:
        notes.append(f"the first {MOST_PANELS:,} of {len(names):,} scores are drawn")
    drawn = rows[:MOST_ROWS]
    left_out: dict[str, list[str]] = {}
    panels = [
        _panel(metric, name, drawn, series, left_out)
        for metric, name in names[:MOST_PANELS]
    ]
    notes += [
        f"not drawn ({reason}): {first_of(places)}"
        for reason, places in left_out.items()
    ]
    caption = [
        *_methods(panels, scores),
        *remark_lines(panels),
        *(f"\u2013 {note}" for note in notes),
    ]
    chart = RowChart([row.label for row in drawn], panels, series, caption)
    found = draw_rows(chart, TITLE, described(_sentences(drawn, series)))
    return Drawing(found.figure, found.title, found.description, tuple(notes))


def _rows(scores: Scores) -> tuple[list[_Row], list[str]]:
    """Return the rows, and the names of the series in them."""
    systems, groups = scores.systems, scores.groups
    if groups and 1 < len(systems) <= len(SERIES):
        found: dict[str, list[Group | None]] = {_ALL: list(systems)}
        for group in groups:
            at = next(
                at
                for at, system in enumerate(systems)
                if system.key.items() <= group.key.items()
            )
            own = {name: text for name, text in group.key.items() if name != MODEL}
            row = found.setdefault(_label(own), [None] * len(systems))
            row[at] = group
        rows = [_Row(name, of_row) for name, of_row in found.items()]
        return rows, [_label(system.key) for system in systems]
    return [
        _Row(_label(group.key), [group])
        for system in systems
        for group in (system, *_groups_of(system, groups))
    ], [""]


def _groups_of(system: Group, groups: Sequence[Group]) -> Iterator[Group]:
    for group in groups:
        if system.key.items() <= group.key.items():
            yield group


def _label(key: Mapping[str, str]) -> str:
    """Return the values that the answers of a group share."""
    return label(", ".join(value or _EMPTY for value in key.values())) or _ALL


def _panel(
    metric: str,
    name: str,
    rows: Sequence[_Row],
    series: Sequence[str],
    left_out: dict[str, list[str]],
) -> Panel:
    """Return the panel of one score, and add to `left_out` what it does not have."""
    title = label(score_name(metric, name))
    marks, sentences, scale, arrow = [], {}, None, ""
    for at, row in enumerate(rows):
        reasons = []
        for number, group in enumerate(row.groups):
            score = _score_of(group, metric, name)
            if score is None:
                continue
            scale, arrow = LIMITS.get(score.scale), arrow_of(score)
            reason = _reason(score)
            if score.value is None or reason:
                reasons.append(reason)
                of_series = f" ({series[number]})" if len(series) > 1 else ""
                place = f"{title} of {row.label}{of_series}"
                left_out.setdefault(reason, []).append(place)
                continue
            low, high = score.interval or (None, None)
            marks.append(Mark(at, score.value, low, high, number, remark=score.remark))
        if reasons and len(reasons) == sum(group is not None for group in row.groups):
            sentences[at] = reasons[0]
    return Panel(f"{title} {arrow}".rstrip(), marks, scale, sentences=sentences)


def _score_of(group: Group | None, metric: str, name: str) -> MetricScore | None:
    """Return the score of a group with this name, None if it has none."""
    found = () if group is None else group.scores
    return next(
        (one for one in found if (one.metric, one.name) == (metric, name)), None
    )


def _reason(score: MetricScore) -> str:
    """Return why a score is not drawn, "" if it is."""
    if score.value is None:
        return "no answer has a score"
    return "one question" if score.questions == 1 else ""


def _methods(panels: Sequence[Panel], scores: Scores) -> list[str]:
    """Return what the lines of the marks are."""
    marks = [mark for panel in panels for mark in panel.marks]
    if not marks:
        return ["There is nothing to draw."]
    if all(mark.low is None for mark in marks):
        return ["Without intervals."]
    levels = interval_levels(
        one.method
        for group in (*scores.systems, *scores.groups)
        for one in group.scores
    )
    return [f"Lines are {levels} intervals by question."]


def _sentences(rows: Sequence[_Row], series: Sequence[str]) -> Iterator[str]:
    """Yield the numbers in words, and how they were computed."""
    signatures: dict[str, None] = {}
    for row in rows:
        for number, group in enumerate(row.groups):
            for score in () if group is None else group.scores:
                of_series = f" ({series[number]})" if len(series) > 1 else ""
                name = label(score_name(score.metric, score.name))
                yield f"{name} of {row.label}{of_series}: {_numbers(score)}."
                signatures[score.signature] = None
    yield from (f"Signature: {shown(one)}." for one in signatures if one)


def _numbers(score: MetricScore) -> str:
    """Return a score with its interval as text."""
    if score.value is None or _reason(score):
        return _reason(score)
    remark = f", {score.remark}" if score.remark else ""
    if score.interval is None:
        return f"{score.value:.4f}{remark}"
    low, high = score.interval
    return f"{score.value:.4f} ({low:.4f} to {high:.4f}){remark}"
