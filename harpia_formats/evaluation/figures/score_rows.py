"""Pictures of numbers with intervals in rows, and of scores by model and group."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.conversion.mapping.answer_groups import MODEL
from harpia_formats.evaluation.figures.drawing import (
    LINE,
    MUTED,
    SERIES,
    SMALL,
    SURFACE,
    Drawing,
    add_caption,
    caption_lines,
    described,
    first_of,
    label,
    shown,
    width_of,
)
from harpia_formats.evaluation.scoring.metric_score import (
    APPROXIMATE,
    MISSING,
    Group,
    MetricScore,
    arrow_of,
    score_name,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.vendor_metrics import LIMITS

#: Inches: of a panel that is alone and of others, between panels, and of a border.
_ALONE, _PANEL, _BETWEEN, _BORDER = 4.2, 2.45, 0.42, 0.12
#: Inches: above and below the rows of a panel, of the least row, and of a series in it.
_ABOVE, _BELOW, _ROW, _SERIES = 0.3, 0.36, 0.27, 0.15
#: Rows and panels of one picture.
MOST_ROWS, MOST_PANELS = 60, 12
#: Panels beside each other.
_ACROSS = 3
#: Different remarks below the panels.
_REMARKS = 8
#: The difference of two such numbers is finite.
_GREATEST = 1e300


@dataclass(frozen=True, slots=True)
class Mark:
    """A number with its interval, of one series, in a row."""

    row: int
    value: float
    low: float | None = None
    high: float | None = None
    series: int = 0
    is_hollow: bool = False
    #: Why its interval is approximate or missing, "" if it is neither.
    remark: str = ""

    @property
    def sign(self) -> str:
        """What stands behind it if there is a remark, as in tables."""
        if not self.remark:
            return ""
        return MISSING if self.low is None else APPROXIMATE

    @property
    def numbers(self) -> list[float]:
        """The numbers of the mark that an axis can show."""
        found = (self.value, self.low, self.high)
        return [one for one in found if one is not None and abs(one) <= _GREATEST]


@dataclass(frozen=True, slots=True)
class Panel:
    """The marks of one score."""

    title: str
    marks: Sequence[Mark]
    #: The ends that its axis does not leave, None if there are none.
    scale: tuple[float, float] | None = None
    #: Whether the axis has a line at 0.
    has_zero: bool = False
    #: What is written in a row in the place of marks.
    sentences: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowChart:
    """Panels with common rows."""

    labels: Sequence[str]
    panels: Sequence[Panel]
    #: The names of the series; one has no legend.
    series: Sequence[str] = ("",)
    #: Sentences below the panels.
    caption: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Measures:
    """Inches of the parts of a chart."""

    label: float
    panel: float
    row: float
    rows: float
    width: float
    height: float
    #: From the upper border to the first panels.
    top: float


def draw_rows(chart: RowChart, title: str, description: str) -> Drawing:
    """Return a chart as a drawing; call it within `settings`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    across = min(_ACROSS, len(chart.panels))
    lines_of_panels = math.ceil(len(chart.panels) / _ACROSS)
    panel = _ALONE if across == 1 else _PANEL
    label = max(map(width_of, chart.labels), default=0) + _BORDER + 0.1
    width = label + across * (panel + _BETWEEN) + _BORDER
    legend = _legend_places(chart.series, width)
    top = _BORDER + (len({y for _, y in legend}) * 0.2)
    row = max(_ROW, _SERIES * len(chart.series) + 0.1)
    rows = row * len(chart.labels)
    caption = caption_lines(chart.caption, width - 2 * _BORDER)
    height = top + lines_of_panels * (_ABOVE + rows + _BELOW)
    height += len(caption) * LINE + 0.1
    measures = _Measures(label, panel, row, rows, width, height, top)
    figure = Figure(figsize=(width, height))
    for at, one in enumerate(chart.panels):
        _draw_panel(figure, chart, one, divmod(at, _ACROSS), measures)
    _draw_legend(figure, chart.series, legend)
    add_caption(figure, caption, _BORDER)
    return Drawing(figure, title, description)


def interval_levels(methods: Iterable[str]) -> str:
    """Return the levels of intervals that were computed by `methods`, such as `95 %`.

    It is "" if these name none.
    """
    levels = {
        float(part.removeprefix("level:"))
        for method in methods
        for part in method.split("|")
        if part.startswith("level:")
    }
    return " and ".join(f"{100 * level:g} %" for level in sorted(levels))


def remark_lines(panels: Iterable[Panel]) -> list[str]:
    """Return the first remarks on marks, each once behind its sign."""
    marks = [mark for panel in panels for mark in panel.marks if mark.remark]
    lines = list(dict.fromkeys(f"{mark.sign} {mark.remark}" for mark in marks))
    rest = len(lines) - _REMARKS
    return [*lines[:_REMARKS], *([f"and {rest:,} more remarks"] if rest > 0 else [])]


def _legend_places(names: Sequence[str], width: float) -> list[tuple[float, int]]:
    """Return the place of each name: inches from the left, and the line."""
    if len(names) == 1:
        return []
    places: list[tuple[float, int]] = []
    x, line = _BORDER, 0
    for name in names:
        needed = 0.2 + width_of(name) + 0.2
        if places and x + needed > width - _BORDER:
            x, line = _BORDER, line + 1
        places.append((x, line))
        x += needed
    return places


def _draw_legend(
    figure: Any, names: Sequence[str], places: Sequence[tuple[float, int]]
) -> None:
    """Draw the mark and the name of each series above the panels."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    width, height = figure.get_size_inches()
    for (x, line), name, (colour, shape) in zip(places, names, SERIES, strict=False):
        y = 1 - (_BORDER + 0.08 + line * 0.2) / height
        mark = Line2D(
            [(x + 0.07) / width], [y], marker=shape, color=colour, ls="", ms=5.5
        )
        figure.add_artist(mark)
        figure.text((x + 0.2) / width, y, name, va="center_baseline")


def _draw_panel(
    figure: Any,
    chart: RowChart,
    panel: Panel,
    place: tuple[int, int],
    measures: _Measures,
) -> None:
    """Draw one panel at its place: a line of panels, and a column in it."""
    line, column = place
    left = measures.label + column * (measures.panel + _BETWEEN)
    bottom = measures.height - measures.top
    bottom -= line * (_ABOVE + measures.rows + _BELOW) + _ABOVE + measures.rows
    axes = figure.add_axes(
        (
            left / measures.width,
            bottom / measures.height,
            measures.panel / measures.width,
            measures.rows / measures.height,
        )
    )
    axes.set_title(panel.title, loc="left", pad=6)
    axes.set_ylim(len(chart.labels) - 0.5, -0.5)
    axes.set_yticks(range(len(chart.labels)), chart.labels if column == 0 else [])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    low, high = _limits(panel)
    axes.set_xlim(low, high)
    if panel.marks:
        axes.locator_params(axis="x", nbins=5 if measures.panel < _ALONE else 8)
        axes.ticklabel_format(axis="x", useOffset=False)
    else:
        axes.set_xticks([])
    if panel.has_zero:
        axes.axvline(0, color=MUTED, lw=1, ls=(0, (4, 3)))
    dodge = _SERIES / measures.row
    for mark in panel.marks:
        offset = (mark.series - (len(chart.series) - 1) / 2) * dodge
        _draw_mark(axes, mark, mark.row + offset)
    for row, sentence in panel.sentences.items():
        axes.annotate(
            sentence,
            (0.02, row),
            xycoords=("axes fraction", "data"),
            size=SMALL,
            color=MUTED,
            style="italic",
            va="center_baseline",
        )


def _limits(panel: Panel) -> tuple[float, float]:
    """Return the ends of the axis of a panel, somewhat wider than its numbers."""
    numbers = [one for mark in panel.marks for one in mark.numbers]
    if panel.has_zero:
        numbers.append(0.0)
    if not numbers:
        return panel.scale or (0.0, 1.0)
    low, high = min(numbers), max(numbers)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    if panel.scale is None:
        return low - room, high + room
    least, most = panel.scale
    # A mark at the end of the scale is drawn as a whole.
    margin = (min(most, high + room) - max(least, low - room)) * 0.02
    return max(least - margin, low - room), min(most + margin, high + room)


def _draw_mark(axes: Any, mark: Mark, y: float) -> None:
    """Draw the interval of a mark as a line with ends, and its number."""
    colour, shape = SERIES[mark.series % len(SERIES)]
    if mark.value not in mark.numbers:
        return
    if mark.low is not None and mark.high is not None:
        axes.plot([mark.low, mark.high], [y, y], color=colour, lw=1.4, marker="|", ms=5)
    axes.plot(
        [mark.value],
        [y],
        color=colour,
        marker=shape,
        ms=5.5,
        mfc=SURFACE if mark.is_hollow else colour,
        clip_on=False,
        zorder=3,
    )
    if mark.sign:
        axes.annotate(
            mark.sign,
            (max(mark.numbers), y),
            xytext=(5, 0),
            textcoords="offset points",
            size=SMALL,
            color=MUTED,
            va="center_baseline",
        )


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
