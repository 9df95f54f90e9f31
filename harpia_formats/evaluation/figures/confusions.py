"""A picture of the confusion matrix of labels, for each model."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.figures.drawing import (
    BORDER,
    GRID,
    NO_LABELS,
    SMALL,
    Drawing,
    FigureError,
    Sheet,
    caption_of,
    described,
    first_of,
    fitted,
    label,
    limit_note,
    notes_of,
    short_for,
    short_labels,
    width_of,
)
from harpia_formats.evaluation.scoring.measures.metric_score import SIDES, Confusion
from harpia_formats.evaluation.scoring.results.scores import Scores

#: Matrices in one picture, matrices in a row of it, and labels of a matrix.
MOST, _ACROSS, MOST_LABELS = 12, 3, 25
#: Inches of a cell, above a matrix, and of a line of text.
_CELL, _ABOVE, _LINE = 0.4, 0.35, 0.22
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
    names = short_labels(", ".join(one.key.values()) for one in scores.systems)
    found = list(_matrices(scores, names))
    if not found:
        raise FigureError(NO_LABELS)
    few = [title for title, one in found if len(one.labels) < _FEWEST]
    wanted = [(title, one) for title, one in found if len(one.labels) >= _FEWEST]
    drawn = wanted[:MOST]
    notes = notes_of({"less than two labels": few} if few else {})
    notes += limit_note(MOST, len(wanted), "matrices")
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
    figure = _figure(drawn, caption_of([*legend, *short_for(names)], (), notes))
    return Drawing(figure, title, described(_sentences(drawn)), tuple(notes))


def _matrices(scores: Scores, names: Mapping[str, str]) -> Iterator[_Titled]:
    """Yield each matrix once: several scores of one metric have the same."""
    for system in scores.systems:
        found = {
            score.confusion: score.metric
            for score in reversed(system.scores)
            if score.confusion is not None
        }
        model = names[", ".join(system.key.values())]
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


def _figure(drawn: Sequence[_Titled], caption: Sequence[str]) -> Any:
    """Return a figure with all matrices."""
    names = [name for _, one in drawn for name in one.labels]
    room = max(map(width_of, names), default=0) + 0.1
    is_turned = room > _CELL
    left = BORDER + _LINE + room
    size = max((len(one.labels) for _, one in drawn), default=0) * _CELL
    titles = max((width_of(title) for title, _ in drawn), default=0)
    across = max(left + size, titles + BORDER) + BORDER
    down = _ABOVE + size + (room if is_turned else _LINE) + _LINE + 0.06
    columns = min(_ACROSS, len(drawn)) or 1
    width = max(columns * across, 3.5)
    sheet = Sheet(width, math.ceil(len(drawn) / columns) * down + BORDER, caption)
    for at, (title, matrix) in enumerate(drawn):
        line, column = divmod(at, columns)
        x, y = column * across, BORDER + line * down
        sheet.write(x + BORDER, y + 0.15, title)
        own = len(matrix.labels) * _CELL
        axes = sheet.axes(x + left, y + _ABOVE, own, own)
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


def _sentences(drawn: Sequence[_Titled]) -> Iterator[str]:
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
