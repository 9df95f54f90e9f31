"""The pictures: intervals of scores and differences in rows, and confusion matrices."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from harpia_formats.conversion.mapping.answer_groups import MODEL
from harpia_formats.evaluation.figures.drawing import (
    BORDER,
    GRID,
    NO_LABELS,
    SERIES,
    SMALL,
    Drawing,
    FigureError,
    Sheet,
    caption_of,
    described,
    fitted,
    label,
    limit_note,
    notes_of,
    short_for,
    short_labels,
    shown,
    small_text,
    width_of,
)
from harpia_formats.evaluation.plots import Interval, interval_text
from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    EMPTY,
    MISSING,
    SIDES,
    Confusion,
    Group,
    arrow_of,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparisonReport,
    difference_of,
    marks_of_differences,
)
from harpia_formats.evaluation.scoring.results.scores import Scores, interval_of
from harpia_formats.model.describe import first_of, p_text
from harpia_formats.model.vendor_metrics import LIMITS

#: Inches: of a panel that is alone and of others, and between panels.
_ALONE, _PANEL, _BETWEEN = 4.2, 2.45, 0.45
#: Inches: above and below the rows of a panel, of a line of labels, of a series in it,
#: and of a line of the legend.
_ABOVE, _BELOW, _ROW, _SERIES, _LEGEND = 0.3, 0.36, 0.27, 0.15, 0.2
#: Rows and panels of one picture.
MOST_ROWS, MOST_PANELS = 60, 12
#: Panels in a row.
_ACROSS = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A score or a difference with its interval, in a row of the panel of one score."""

    #: What tells its row from others.
    row: Hashable
    #: The name of the score, with what tells whether higher is better.
    title: str
    interval: Interval
    series: int = 0
    #: The ends that its axis does not leave, None if there are none.
    scale: tuple[float, float] | None = None
    #: Why it is not drawn, "" if it is.
    reason: str = ""
    #: What it is in words, its p-values, and how it was computed.
    words: str = ""
    p: str = ""
    method: str = ""
    signature: str = ""

    @property
    def sign(self) -> str:
        """What stands behind it if there is a remark, as in tables."""
        if not self.interval.remark:
            return ""
        return MISSING if self.interval.low is None else APPROXIMATE


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that all panels have: their labels by what tells them apart."""

    labels: Mapping[Hashable, str]
    #: The names of the series; one has no legend.
    series: Sequence[str] = ("",)
    #: Whether axes have a line at 0, as those of differences.
    has_zero: bool = False


def picture_of(title: str, rows: Rows, marks: list[Mark], legend: list[str]) -> Drawing:
    """Return rows of marks as a drawing, with what is `legend` below them.

    It has the first rows and scores, and names what is not drawn.
    """
    titles = list(dict.fromkeys(mark.title for mark in marks))
    notes = limit_note(MOST_ROWS, len(rows.labels), "rows")
    notes += limit_note(MOST_PANELS, len(titles), "scores")
    rows = replace(rows, labels=dict(islice(rows.labels.items(), MOST_ROWS)))
    titles = titles[:MOST_PANELS]
    marks = [one for one in marks if one.row in rows.labels and one.title in titles]
    left_out: dict[str, list[str]] = {}
    for one in marks:
        if one.reason:
            left_out.setdefault(one.reason, []).append(one.words)
    notes += notes_of(left_out)
    drawn = [one for one in marks if not one.reason]
    remarks = (f"{one.sign} {one.interval.remark}" for one in drawn if one.sign)
    caption = caption_of([_meaning_of_lines(drawn, rows), *legend], remarks, notes)
    figure = draw_rows(rows, titles, drawn, caption)
    return Drawing(figure, title, described(_sentences(marks, rows)), tuple(notes))


def _meaning_of_lines(marks: Sequence[Mark], rows: Rows) -> str:
    """Return what the lines of the marks are."""
    levels = {
        float(part.removeprefix("level:"))
        for mark in marks
        for part in mark.method.split("|")
        if part.startswith("level:")
    }
    if not marks:
        return "There is nothing to draw."
    if all(mark.interval.low is None for mark in marks):
        return "Without intervals."
    shares = " and ".join(f"{100 * level:g} %" for level in sorted(levels))
    what = "intervals of the difference" if rows.has_zero else "intervals"
    return f"Lines are {shares} {what} by question."


def _sentences(marks: Sequence[Mark], rows: Rows) -> Iterator[str]:
    """Yield the numbers in words, and how they were computed."""
    for one in marks:
        value = one.reason or interval_text(one.interval, "+" * rows.has_zero)
        parts = (value, one.p, "" if one.reason else one.interval.remark)
        yield f"{one.words}: {', '.join(filter(None, parts))}."
    for signature in dict.fromkeys(one.signature for one in marks if one.signature):
        yield f"Signature: {shown(signature)}."


def draw_rows(
    rows: Rows, titles: Sequence[str], marks: Sequence[Mark], caption: Sequence[str]
) -> Any:
    """Return a figure with a panel for each title; call it within `settings`."""
    labels, series = list(rows.labels.values()), rows.series
    across = min(_ACROSS, len(titles)) or 1
    width = _ALONE if across == 1 else _PANEL
    left = max(map(width_of, labels), default=0) + BORDER + 0.1
    lines = max((text.count("\n") for text in labels), default=0)
    high = max(_ROW + 0.14 * lines, _SERIES * len(series) + 0.1)
    whole = left + across * (width + _BETWEEN)
    legend = _legend(series, whole)
    top = BORDER + _LEGEND * (1 + max(legend, default=(-1, 0))[0]) + _ABOVE
    step = high * len(labels) + _BELOW + _ABOVE
    down = math.ceil(len(titles) / across)
    sheet = Sheet(whole, top + down * step - _ABOVE, caption)
    for place, name, look in zip(legend, series, SERIES, strict=False):
        _draw_name(sheet, *place, name, look)
    for at, title in enumerate(titles):
        line, column = divmod(at, across)
        x, y = left + column * (width + _BETWEEN), top + line * step
        sheet.write(x, y - 0.09, fitted(title, width + _BETWEEN - 0.1))
        axes = sheet.axes(x, y, width, high * len(labels))
        axes.set_yticks(range(len(labels)), [text * (not column) for text in labels])
        axes.set_ylim(len(labels) - 0.5, -0.5)
        own = [mark for mark in marks if mark.title == title]
        low, most = _limits(own, has_zero=rows.has_zero)
        axes.set_xlim(low, most)
        axes.set_xticks(*(_ticks(low, most, width) if own else ([], [])))
        _draw_panel(axes, own, rows, _SERIES / high)
    return sheet.figure


def _limits(marks: Sequence[Mark], *, has_zero: bool) -> tuple[float, float]:
    """Return the ends of the axis of one score, somewhat wider than its numbers."""
    numbers = [one for mark in marks for one in mark.interval.numbers]
    numbers += [0.0] * has_zero
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    scale = marks[0].scale if marks else None
    if scale is None:
        return low - room, high + room
    least, most = scale
    # A mark at the end of the scale is drawn as a whole.
    margin = (min(most, high + room) - max(least, low - room)) * 0.02
    return max(least - margin, low - room), min(most + margin, high + room)


def _legend(names: Sequence[str], width: float) -> list[tuple[int, float]]:
    """Return the place of each name: the line, and inches from the left."""
    if len(names) == 1:
        return []
    needed = 0.4 + max(map(width_of, names))
    across = max(1, int((width - BORDER) / needed))
    return [(at // across, BORDER + at % across * needed) for at in range(len(names))]


def _draw_name(
    sheet: Sheet, line: int, left: float, name: str, look: tuple[str, str]
) -> None:
    """Draw the mark and the name of a series above the panels."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    top = BORDER + 0.08 + line * _LEGEND
    place = [(left + 0.07) / sheet.width], [1 - top / sheet.height]
    mark = Line2D(*place, color=look[0], marker=look[1], ls="", ms=5.5)
    sheet.figure.add_artist(mark)
    sheet.write(left + 0.2, top, name, va="center_baseline")


def _draw_panel(axes: Any, marks: Sequence[Mark], rows: Rows, dodge: float) -> None:
    """Draw the marks of a panel; those of two series are so far apart, in rows."""
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    if rows.has_zero:
        axes.axvline(0, color=small_text()["color"], lw=1, ls=(0, (4, 3)))
    places = {row: place for place, row in enumerate(rows.labels)}
    for mark in marks:
        offset = (mark.series - (len(rows.series) - 1) / 2) * dodge
        _draw_mark(axes, mark, places[mark.row] + offset)


#: Digits behind the point, and numbers, that are not written with an exponent.
_DIGITS, _PLAIN = 6, 1e7


def _ticks(low: float, high: float, width: float) -> tuple[list[float], list[str]]:
    """Return round numbers on an axis with their texts, which do not overlap.

    No text is much beyond the ends of the axis, which is so many inches wide.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - optional

    for count in (8, 6, 4, 3, 2, 1):
        found = MaxNLocator(count, steps=[1, 2, 5, 10]).tick_values(low, high)
        step = float(found[1] - found[0])
        digits = -math.floor(math.log10(step) + 1e-9)
        is_plain = digits <= _DIGITS and max(abs(low), abs(high)) < _PLAIN
        form = f".{max(digits, 0)}f" if is_plain else ".3g"
        texts = {f"{tick:{form}}": float(tick) for tick in found if low <= tick <= high}
        half = max(map(width_of, texts), default=0) / 2
        margin = (half - _BETWEEN / 2 + 0.05) / width * (high - low)
        texts = {
            text: tick
            for text, tick in texts.items()
            if low + margin <= tick <= high - margin
        }
        apart, needed = step / (high - low) * width, 2 * half + 0.15
        if apart > needed:
            break
    else:  # the locator has no fewer
        texts = dict(islice(texts.items(), 0, None, math.ceil(needed / apart)))
    return list(texts.values()), list(texts)


def _draw_mark(axes: Any, mark: Mark, y: float) -> None:
    """Draw the interval of a mark as a line with ends, and its number."""
    row, (colour, shape) = mark.interval, SERIES[mark.series % len(SERIES)]
    if row.value not in row.numbers:
        return
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [y, y], color=colour, lw=1.4, marker="|", ms=5)
    look = {"mfc": "none" if row.is_hollow else colour, "marker": shape, "ms": 5.5}
    axes.plot([row.value], [y], color=colour, clip_on=False, zorder=3, **look)
    place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center_baseline"}
    axes.annotate(mark.sign, (max(row.numbers), y), **place, **small_text())


#: Stands for all answers.
_ALL = "all answers"


def draw_scores(scores: Scores) -> Drawing:
    """Return the scores as rows of marks; call it within `settings`.

    Models are rows; if there are groups, these are the rows and the models differ by
    shape and colour, as long as there are enough of them.
    """
    systems, groups = scores.systems, scores.groups
    names = short_labels(one.key[MODEL] for one in systems if one.key.get(MODEL))
    is_by_group = bool(groups) and 1 < len(systems) <= len(SERIES)
    marks: list[Mark] = []
    labels: dict[Hashable, str] = {}
    for series, system in enumerate(systems):
        for group in (system, *groups):
            if not (group is system or system.key.items() <= group.key.items()):
                continue
            key = dict(group.key)
            if is_by_group:
                key.pop(MODEL, None)
            row = tuple(key.items())
            labels[row] = _label(key, names)
            place = _label(group.key, names)
            marks += _marks(group, row, series * is_by_group, place)
    names_of = [_label(system.key, names) for system in systems]
    rows = Rows(labels, names_of if is_by_group else ("",))
    return picture_of("Scores with their intervals", rows, marks, short_for(names))


def draw_benchmarks(found: BenchmarkScores) -> Drawing:
    """Return the scores of systems, a panel for each score of each benchmark.

    Call it within `settings`.
    """
    names = short_labels(found.systems)
    marks = [
        replace(mark, title=f"{shown(one.name)} {mark.title}".lstrip())
        for one in found.benchmarks
        for system in one.systems
        for mark in _marks(system.scores, system.name, 0, names[system.name])
    ]
    rows = Rows({name: names[name] for name in found.systems})
    title = "Scores of systems on benchmarks"
    return picture_of(title, rows, marks, short_for(names))


def _label(key: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the values that the answers of a group share."""
    values = [names.get(key[at], key[at]) if at == MODEL else key[at] for at in key]
    return label(", ".join(value or EMPTY for value in values)) or _ALL


def _marks(group: Group, row: Hashable, series: int, place: str) -> Iterator[Mark]:
    """Yield the scores of a group as marks of a row and a series."""
    for score in group.scores:
        name = label(score.full_name)
        reason = "one question" if score.questions == 1 else ""
        yield Mark(
            row,
            f"{shown(score.full_name)} {arrow_of(score)}".rstrip(),
            interval_of(score),
            series,
            LIMITS.get(score.scale),
            "no answer has a score" if score.value is None else reason,
            f"{name} of {place}",
            method=score.method,
            signature=score.signature,
        )


#: Columns of two names that stand on one line.
_ONE_LINE = 44


def draw_differences(report: ComparisonReport) -> Drawing:
    """Return the differences as rows of marks; call it within `settings`.

    A pair of systems is a row, and a score a panel. Differences that are significant
    after the adjustment for all of them are filled.
    """
    names = short_labels(system.name for system in report.systems)
    labels: dict[Hashable, str] = {}
    marks = []
    for one in report.compared:
        found, name = one.comparison, label(one.full_name)
        labels[one.systems] = pair = " \u2212 ".join(names[of] for of in one.systems)
        arrow, p = report.arrows.get((one.metric, one.name), ""), ""
        if found is not None:
            p = f"p {p_text(found.p_value, is_least=found.is_least)}"
            if one.adjusted_p is not None:
                p += f", {p_text(one.adjusted_p, is_least=found.is_least)} (Holm)"
        marks.append(
            Mark(
                one.systems,
                f"{shown(one.full_name)} {arrow}".rstrip(),
                difference_of(one),
                reason=one.reason,
                words=f"{name} of {pair}",
                p=p,
                method=found.method if found else "",
                signature=one.signature,
            )
        )
    if any(len(pair) > _ONE_LINE for pair in labels.values()):
        labels = {
            at: pair.replace(" \u2212 ", " \u2212\n") for at, pair in labels.items()
        }
    rows = Rows(labels, has_zero=True)
    legend = [*marks_of_differences(report.compared, report.arrows.values())]
    title = "Differences of scores with their intervals"
    return picture_of(title, rows, marks, [*legend, *short_for(names)])


#: Matrices in one picture, and labels of a matrix.
MOST_MATRICES, MOST_LABELS = 12, 25
#: Inches of a cell, above a matrix, and of a line of text.
_CELL, _ABOVE_MATRIX, _LINE = 0.4, 0.35, 0.22
#: Columns of a label.
_ROOM = 24
#: The colours of cells with no answer and with all of a row, and of what is on them: an
#: own ground, so that numbers can be read on any page.
_NONE, _EVERY, _ON_CELL = "#f3f6f9", "#67a9cf", "#111111"
#: Stands for the labels that are not drawn one by one.
_REST = "(other labels)"
_FEWEST = 2


#: A matrix with what it is of.
_Titled = tuple[str, Confusion]


def draw_confusions(scores: Scores) -> Drawing:
    """Return a matrix for each model; call it within `settings`.

    Raises `FigureError` if no score has one.
    """
    names = short_labels(one.label for one in scores.systems)
    found = list(_matrices(scores, names))
    if not found:
        raise FigureError(NO_LABELS)
    few = [title for title, one in found if len(one.labels) < _FEWEST]
    wanted = [(title, one) for title, one in found if len(one.labels) >= _FEWEST]
    drawn = wanted[:MOST_MATRICES]
    notes = notes_of({"less than two labels": few} if few else {})
    notes += limit_note(MOST_MATRICES, len(wanted), "matrices")
    cut = [title for title, one in drawn if _REST in one.labels]
    if cut:
        notes.append(
            f"the {MOST_LABELS} most frequent labels are drawn, and the others "
            f"together: {first_of(cut)}"
        )
    title, legend = "Answers by the label of the reference and of the answer", []
    if drawn:
        of_rows, of_columns = drawn[0][1].sides
        if (of_rows, of_columns) == SIDES:
            of_rows, of_columns = "references", "answers"
        else:
            title = f"Answers by the label of {of_rows} and of {of_columns}"
        legend.append(
            f"Rows are labels of {of_rows}, columns are labels of {of_columns}. "
            "Numbers are answers; the shade of a cell is their share of the row."
        )
    figure = _matrix_figure(drawn, caption_of([*legend, *short_for(names)], (), notes))
    return Drawing(figure, title, described(_matrix_sentences(drawn)), tuple(notes))


def _matrices(scores: Scores, names: Mapping[str, str]) -> Iterator[_Titled]:
    """Yield each matrix once: several scores of one metric have the same."""
    for system in scores.systems:
        found = {
            score.confusion: score.metric
            for score in reversed(system.scores)
            if score.confusion is not None
        }
        model = names[system.label]
        for confusion, metric in reversed(found.items()):
            parts = [model, label(metric) if len(found) > 1 else ""]
            yield ", ".join(filter(None, parts)) or "all answers", _cut(confusion)


def _cut(found: Confusion) -> Confusion:
    """Return a matrix with its most frequent labels, and the others together."""
    places = range(len(found.labels))
    names = [label(one, _ROOM) for one in found.labels]
    of_rows, of_columns = map(label, found.sides)

    def times(at: int) -> int:
        """Return how often a label is that of a reference or an answer."""
        return sum(found.counts[at]) + sum(row[at] for row in found.counts)

    kept = sorted(sorted(places, key=times, reverse=True)[:MOST_LABELS])
    rest = sorted(set(places) - set(kept))
    groups = [*([at] for at in kept), *([rest] if rest else [])]
    counts = tuple(
        tuple(
            sum(found.counts[row][column] for row in ours for column in theirs)
            for theirs in groups
        )
        for ours in groups
    )
    labels = *(names[at] for at in kept), *([_REST] if rest else [])
    return Confusion(labels, counts, (of_rows, of_columns))


def _matrix_figure(drawn: Sequence[_Titled], caption: Sequence[str]) -> Any:
    """Return a figure with all matrices."""
    names = [name for _, one in drawn for name in one.labels]
    room = max(map(width_of, names), default=0) + 0.1
    is_turned = room > _CELL
    left = BORDER + _LINE + room
    size = max((len(one.labels) for _, one in drawn), default=0) * _CELL
    titles = max((width_of(title) for title, _ in drawn), default=0)
    across = max(left + size, titles + BORDER) + BORDER
    down = _ABOVE_MATRIX + size + (room if is_turned else _LINE) + _LINE + 0.06
    columns = min(_ACROSS, len(drawn)) or 1
    width = max(columns * across, 3.5)
    sheet = Sheet(width, math.ceil(len(drawn) / columns) * down + BORDER, caption)
    for at, (title, matrix) in enumerate(drawn):
        line, column = divmod(at, columns)
        x, y = column * across, BORDER + line * down
        sheet.write(x + BORDER, y + 0.15, title)
        own = len(matrix.labels) * _CELL
        axes = sheet.axes(x + left, y + _ABOVE_MATRIX, own, own)
        _draw_matrix(axes, matrix, is_turned=is_turned)
    return sheet.figure


def _draw_matrix(axes: Any, matrix: Confusion, *, is_turned: bool) -> None:
    """Draw the cells of a matrix with their numbers."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - optional
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

    size = len(matrix.labels)
    shares = [[count / (sum(row) or 1) for count in row] for row in matrix.counts]
    shades = LinearSegmentedColormap.from_list("cells", [_NONE, _EVERY])
    axes.pcolormesh(shares, cmap=shades, vmin=0, vmax=1, edgecolors=GRID, lw=0.6)
    axes.set_ylim(size, 0)
    middles = [at + 0.5 for at in range(size)]
    axes.set_xticks(middles, matrix.labels, rotation=90 if is_turned else 0)
    axes.set_yticks(middles, matrix.labels)
    axes.tick_params(length=0, labelcolor=axes.yaxis.label.get_color())
    axes.set_ylabel(fitted(matrix.sides[0], size * _CELL))
    axes.set_xlabel(fitted(matrix.sides[1], size * _CELL))
    axes.spines[:].set_visible(False)
    for row, counts in enumerate(matrix.counts):
        if matrix.labels[row] != _REST:
            edge = Rectangle((row, row), 1, 1, fill=False, ec=_ON_CELL, zorder=3)
            axes.add_patch(edge)
        for column, count in enumerate(counts):
            place = {"ha": "center", "va": "center_baseline", "size": SMALL}
            text = _short(count)
            axes.text(column + 0.5, row + 0.5, text, color=_ON_CELL, **place)


def _short(count: int) -> str:
    """Return a number of at most four signs, such as `12k`."""
    for name, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count // size}{name}"
    return str(count)


def _matrix_sentences(drawn: Sequence[_Titled]) -> Iterator[str]:
    """Yield the matrices in words: the labels of the answers to each reference."""
    for title, one in drawn:
        yield f"{title}:"
        for name, numbers in zip(one.labels, one.counts, strict=True):
            found = [
                f"{count:,} {other}"
                for other, count in zip(one.labels, numbers, strict=True)
                if count
            ]
            yield f"{one.sides[0]} {name}: {', '.join(found) or 'no answer'}."
