"""A picture of the confusion matrix of labels, for each model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.figures.drawing import (
    GRID,
    INK,
    LINE,
    MUTED,
    SERIES,
    SMALL,
    Drawing,
    NoLabelsError,
    add_caption,
    caption_lines,
    described,
    first_of,
    label,
    width_of,
)
from harpia_formats.evaluation.scoring.metric_score import SIDES, Confusion
from harpia_formats.evaluation.scoring.scores import Scores

TITLE = "Answers by the label of the reference and of the answer"
#: Matrices of one picture, those beside each other, and labels of one.
MOST, _ACROSS, MOST_LABELS = 12, 3, 25
#: Inches of a cell, of a border, and above a matrix.
_CELL, _BORDER, _ABOVE = 0.4, 0.12, 0.4
#: How dark a cell is that has all answers of its row: texts can be read on it.
_DARKEST = 0.55
#: Stands for the labels that are not drawn one by one.
_REST = "(other labels)"
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A matrix with what it is of."""

    title: str
    labels: Sequence[str]
    counts: Sequence[Sequence[int]]
    #: What gives the labels of rows, and those of columns.
    sides: tuple[str, str]

    @property
    def row_sums(self) -> list[int]:
        """The number of answers by the label of the reference."""
        return [sum(row) for row in self.counts]


def draw_confusions(scores: Scores) -> Drawing:
    """Return a matrix for each model; call it within `settings`.

    Raises `NoLabelsError` if no score has one.
    """
    found = list(_matrices(scores))
    if not found:
        raise NoLabelsError
    notes, title = [], TITLE
    few = [one.title for one in found if len(one.labels) < _FEWEST]
    if few:
        notes.append(f"not drawn (less than two labels): {first_of(few)}")
    wanted = [one for one in found if len(one.labels) >= _FEWEST]
    if len(wanted) > MOST:
        notes.append(f"the first {MOST} of {len(wanted):,} matrices are drawn")
    drawn = wanted[:MOST]
    cut = [one.title for one in drawn if _REST in one.labels]
    if cut:
        notes.append(
            f"the {MOST_LABELS} most frequent labels are drawn, and the others "
            f"together: {first_of(cut)}"
        )
    caption = [f"\u2013 {note}" for note in notes]
    if drawn:
        of_rows, of_columns = drawn[0].sides
        if (of_rows, of_columns) == SIDES:
            of_rows, of_columns = "references", "answers"
        else:
            title = f"Answers by the label of {of_rows} and of {of_columns}"
        caption.insert(
            0,
            f"Rows are labels of {of_rows}, columns are labels of {of_columns}. "
            "Numbers are answers; the shade of a cell is their share of the row.",
        )
    figure = _figure(drawn, caption)
    return Drawing(figure, title, described(_sentences(drawn)), tuple(notes))


def _matrices(scores: Scores) -> Iterator[_Matrix]:
    """Yield each matrix once: several scores of one metric have the same."""
    for system in scores.systems:
        seen: list[Confusion] = []
        with_matrix = [one for one in system.scores if one.confusion is not None]
        for score in with_matrix:
            found = score.confusion
            if found is None or found in seen:
                continue
            seen.append(found)
            model = label(", ".join(system.key.values()))
            several = any(one.confusion not in seen for one in with_matrix)
            metric = label(score.metric) if several or len(seen) > 1 else ""
            title = ", ".join(filter(None, (model, metric))) or "all answers"
            yield _cut(title, found)


def _cut(title: str, found: Confusion) -> _Matrix:
    """Return a matrix with its most frequent labels, and the others together."""
    places = range(len(found.labels))
    of_rows, of_columns = map(label, found.sides)
    sides = of_rows, of_columns
    if len(places) <= MOST_LABELS:
        return _Matrix(title, list(map(label, found.labels)), found.counts, sides)

    def times(at: int) -> int:
        return sum(found.counts[at]) + sum(row[at] for row in found.counts)

    kept = sorted(sorted(places, key=times, reverse=True)[:MOST_LABELS])
    groups = [*([at] for at in kept), sorted(set(places) - set(kept))]
    counts = [
        [
            sum(found.counts[row][column] for row in ours for column in theirs)
            for theirs in groups
        ]
        for ours in groups
    ]
    names = [*(label(found.labels[at]) for at in kept), _REST]
    return _Matrix(title, names, counts, sides)


def _figure(drawn: Sequence[_Matrix], caption: Sequence[str]) -> Any:
    """Return a figure with all matrices."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    names = [name for one in drawn for name in one.labels]
    room = max(map(width_of, names), default=0) + 0.1
    size = max((len(one.labels) for one in drawn), default=0) * _CELL
    is_turned = room > _CELL
    below = (room if is_turned else 0.22) + 0.3
    left = room + 0.35
    across = min(_ACROSS, len(drawn)) or 1
    width = max(across * (left + size + _BORDER) + _BORDER, 3.5)
    lines = caption_lines(caption, width - 2 * _BORDER)
    down = math.ceil(len(drawn) / _ACROSS)
    height = down * (_ABOVE + size + below) + len(lines) * LINE + 0.15
    figure = Figure(figsize=(width, height))
    for at, matrix in enumerate(drawn):
        line, column = divmod(at, across)
        own = len(matrix.labels) * _CELL
        x = column * (left + size + _BORDER) + left
        y = height - line * (_ABOVE + size + below) - _ABOVE - own
        axes = figure.add_axes((x / width, y / height, own / width, own / height))
        _draw_matrix(axes, matrix, is_turned=is_turned)
    add_caption(figure, lines, _BORDER)
    return figure


def _draw_matrix(axes: Any, matrix: _Matrix, *, is_turned: bool) -> None:
    """Draw the cells of a matrix with their numbers."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

    size = len(matrix.labels)
    axes.set_xlim(0, size)
    axes.set_ylim(size, 0)
    middles = [at + 0.5 for at in range(size)]
    axes.set_xticks(middles, matrix.labels, rotation=90 if is_turned else 0)
    axes.set_yticks(middles, matrix.labels)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xlabel(matrix.sides[1], color=MUTED)
    axes.set_ylabel(matrix.sides[0], color=MUTED)
    axes.set_title(matrix.title, loc="left", pad=6)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for row, (numbers, of_row) in enumerate(
        zip(matrix.counts, matrix.row_sums, strict=True)
    ):
        for column, count in enumerate(numbers):
            share = count / of_row if of_row else 0
            corner = column, row
            is_right = row == column and matrix.labels[row] != _REST
            if count:
                axes.add_patch(
                    Rectangle(
                        corner, 1, 1, fc=SERIES[0][0], alpha=_DARKEST * share, lw=0
                    )
                )
            edge = INK if is_right else GRID
            axes.add_patch(
                Rectangle(
                    corner,
                    1,
                    1,
                    fill=False,
                    ec=edge,
                    lw=1.1 if is_right else 0.6,
                    zorder=2 + is_right,
                )
            )
            axes.text(
                column + 0.5,
                row + 0.5,
                _short(count),
                ha="center",
                va="center_baseline",
                size=SMALL,
                color=INK if count else MUTED,
            )


def _short(count: int) -> str:
    """Return a number of at most four signs, such as `12k`."""
    for name, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count // size}{name}"
    return str(count)


def _sentences(drawn: Sequence[_Matrix]) -> Iterator[str]:
    """Yield the matrices in words: the labels of the answers to each reference."""
    for one in drawn:
        yield f"{one.title}:"
        for name, numbers in zip(one.labels, one.counts, strict=True):
            found = [
                f"{count:,} {other}"
                for other, count in zip(one.labels, numbers, strict=True)
                if count
            ]
            yield f"{one.sides[0]} {name}: {', '.join(found) or 'no answer'}."
