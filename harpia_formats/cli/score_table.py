"""Scores as tables, with confusion matrices below them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TextIO

from harpia_formats.cli.fitted_table import table_lines
from harpia_formats.cli.streams_and_exit_codes import MESSAGE_LIMIT, fitted, width_of
from harpia_formats.evaluation.scoring.measures.metric_score import (
    DOWN,
    UP,
    Group,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.best_scores import Better
from harpia_formats.evaluation.scoring.results.scores import Scores, confusion_tables
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import columns
from harpia_formats.reporters.score_tables.score_table import Cell, Note, ScoreTable

#: The most labels of a table in a terminal.
MOST = 12


def confusion_lines(scores: Scores, stream: TextIO) -> Iterator[str]:
    """Yield the confusion matrices of scores of labels, nothing without such scores.

    They fit into the terminal if `stream`, which they are for, is one.
    """
    for found in confusion_tables(scores):
        yield ""
        title, size = safe(found.title), len(found.confusion.labels)
        if size > MOST:
            more = f"{title}: {size:,} labels, whose counts `--output-format json` has"
            yield from fitted([more], stream)
            continue
        yield from fitted([f"{title} ({found.axes})"], stream)
        columns, rows = found.columns, list(found.rows)
        right = [name for name in columns[1:] if name != columns[0]]
        yield from table_lines(
            columns, rows, width_of(stream), right=right, is_ruled=True
        )


#: Spaces between two columns.
_GAP = 3
#: The columns of scores that are aligned on the right.
_NUMBERS = frozenset({"score", "questions", "answers", "left out", "unreadable"})
#: Stands behind an interval that is approximate.
APPROXIMATE = "*"
#: Stands in the place of an interval, as often as the number of the reason.
_MISSING = "†"
#: Stands for a value that is the empty text.
_EMPTY = "(empty)"


def score_lines(scores: Scores, stream: TextIO) -> Iterator[str]:
    """Yield the table of scores, below it their signatures, methods and labels.

    They fit into the terminal if `stream`, which they are for, is one.
    """
    fields = list((scores.groups or scores.systems)[0].key)
    names = [*fields, "metric", "score"]
    names += ["interval"] if _has_intervals(scores) else []
    names += ["questions"] if _has_several_answers(scores) else []
    names += ["answers", *(["left out"] if _is_left_out(scores) else [])]
    names += ["unreadable"] if _may_be_unreadable(scores) else []
    groups = list(scores.groups_by_system())
    rows = [
        list(_score_cells(fields, group, score, scores))
        for group in groups
        for score in group.scores
    ]
    every = [score for group in groups for score in group.scores]
    reasons: list[str] = []
    if "interval" in names and not _has_room(names, rows, width_of(stream)):
        reasons = _moved_reasons(names.index("interval"), rows, every)
    yield from ruled_lines(names, rows, _NUMBERS, stream)
    yield ""
    uneven = uneven_notes((", ".join(one.key.values()), one) for one in groups)
    yield from below_lines([*_lines_below(every), *reasons, *uneven], stream)
    yield from confusion_lines(scores, stream)


def _has_room(
    names: Sequence[str], rows: Iterable[Sequence[str]], width: int | None
) -> bool:
    """Tell whether each row of a table has room in one line."""
    if width is None:
        return True
    cells = zip(names, *rows, strict=True)
    needed = sum(max(map(columns, map(safe, column))) for column in cells)
    return needed + _GAP * (len(names) - 1) <= width


def _moved_reasons(
    place: int, rows: list[list[str]], scores: Sequence[MetricScore]
) -> list[str]:
    """Put marks in the place of why scores have no interval, and return the reasons."""
    found = [score.remark if score.interval is None else "" for score in scores]
    marks = {
        reason: _MISSING * number
        for number, reason in enumerate(filter(None, dict.fromkeys(found)), 1)
    }
    for row, reason in zip(rows, found, strict=True):
        if reason:
            row[place] = f"none {marks[reason]}"
    return [f"{mark} {reason}" for reason, mark in marks.items()]


def _lines_below(scores: Sequence[MetricScore]) -> Iterator[str]:
    """Yield how scores and their intervals were computed."""
    yield from signature_lines(score.signature for score in scores)
    yield from _method_lines(scores)
    remarks = (score.remark for score in scores if score.interval is not None)
    yield from (f"{APPROXIMATE} {text}" for text in dict.fromkeys(remarks) if text)


def _score_cells(
    fields: list[str], group: Group, score: MetricScore, scores: Scores
) -> Iterator[str]:
    """Yield the cells of one score of one group."""
    for field in fields:
        yield group.key.get(field, "(all)") or _EMPTY
    is_redefined = score.metric in scores.redefined
    yield f"{score.full_name} ({scores.profile})" if is_redefined else score.full_name
    yield number_text(score.value)
    if _has_intervals(scores):
        yield _interval(score)
    if _has_several_answers(scores):
        yield f"{score.questions:,}"
    yield f"{score.count:,}"
    if _is_left_out(scores):
        yield f"{score.unscored:,}"
    if _may_be_unreadable(scores):
        yield share_text(score.unreadable_share)


def _has_intervals(scores: Scores) -> bool:
    """Tell whether intervals were requested and any score has one or says why not."""
    return any(
        score.method or score.remark
        for system in scores.systems
        for score in system.scores
    )


def _has_several_answers(scores: Scores) -> bool:
    """Tell whether a question has several answers of one system."""
    return any(
        score.questions < score.count
        for system in scores.systems
        for score in system.scores
    )


def _is_left_out(scores: Scores) -> bool:
    return any(score.unscored for system in scores.systems for score in system.scores)


def _may_be_unreadable(scores: Scores) -> bool:
    """Tell whether a metric counts answers as wrong that it cannot read."""
    return any(
        score.unreadable is not None
        for system in scores.systems
        for score in system.scores
    )


def _interval(score: MetricScore) -> str:
    """Return the interval of a score, or why there is none."""
    if score.interval is None:
        return score.remark
    low, high = score.interval
    return f"{low:.4f} to {high:.4f}{f' {APPROXIMATE}' if score.remark else ''}"


def _method_lines(scores: Iterable[MetricScore]) -> Iterator[str]:
    """Yield a line for each method of intervals, with the scores that have it."""
    names: dict[str, dict[str, None]] = {}
    for score in scores:
        if score.method:
            name = score.full_name
            names.setdefault(score.method, {})[name] = None
    for method, found in names.items():
        yield f"intervals of {', '.join(found)}: {method}"


def ruled_lines(
    names: Sequence[str],
    rows: Iterable[Iterable[str]],
    right: Collection[str],
    stream: TextIO,
) -> Iterator[str]:
    """Yield the lines of a table, fitted to the terminal if `stream` is one."""
    cells = [tuple(map(safe, row)) for row in rows]
    width = width_of(stream)
    return table_lines(names, cells, width, right=right, gap=_GAP, is_ruled=True)


#: The mark of a number that Markdown, LaTeX and HTML set in bold.
_BOLD = "\N{BLACK DIAMOND}"
_ARROWS = {Better.HIGHER: f" {UP}", Better.LOWER: f" {DOWN}", Better.UNKNOWN: ""}
#: Notes below a table in a terminal.
_MOST_NOTES = 5


def published_lines(tables: Iterable[ScoreTable], stream: TextIO) -> Iterator[str]:
    """Yield the lines of tables, and below them their first notes.

    They fit into the terminal if `stream`, which they are for, is one: without
    intervals where there is no room for them.
    """
    width, notes = width_of(stream), list[Note]()
    for found in tables:
        names = [safe(one.full_name) + _ARROWS[one.better] for one in found.headings]
        kinds = zip(names, found.headings, strict=True)
        right = [name for name, heading in kinds if heading.is_number]
        rows = [[_plain_cell(cell) for cell in row] for row in found.rows]
        if not _has_room(names, rows, width):
            rows = [[_plain_cell(cell, "") for cell in row] for row in found.rows]
        yield from ruled_lines(names, rows, right, stream)
        yield ""
        notes += found.notes
    # What marks mean comes first; signatures are long, and say least at a glance.
    notes.sort(key=lambda note: (not note.mark, "Bold:" not in note.text, note.code))
    lines = dict.fromkeys(map(_plain_note, notes))
    yield from below_lines(few_lines(lines, _MOST_NOTES), stream)


def few_lines(lines: Iterable[str], most: int) -> list[str]:
    """Return lines, of more than `most` the first ones and where the others are."""
    found = list(lines)
    if len(found) <= most:
        return found
    more = len(found) - most + 1
    return [*found[: most - 1], f"{more:,} more: with `--output-format markdown`"]


def _plain_cell(cell: Cell, rest: str | None = None) -> str:
    """Return the text of a cell, with its interval unless `rest` replaces that."""
    if isinstance(cell, str):
        return cell
    bold = _BOLD if cell.is_bold else ""
    parts = (cell.text, cell.rest if rest is None else rest, bold + cell.mark)
    return " ".join(filter(None, parts))


def _plain_note(note: Note) -> str:
    """Return a note in one line."""
    text = note.text.replace("Bold:", f"{_BOLD}:")
    text = f"{note.mark} {text}" if note.mark else text
    return f"{text}: {note.code}" if note.code else text


def below_lines(lines: Iterable[str], stream: TextIO) -> list[str]:
    """Return lines below a table, which may name stored scores and signatures."""
    return fitted((safe(line, MESSAGE_LIMIT) for line in lines), stream)


def number_text(value: float | None) -> str:
    """Return a score as text."""
    return "none" if value is None else f"{value:.4f}"


def share_text(share: float | None) -> str:
    """Return a share as a percentage, "" if it is not known."""
    return "" if share is None else f"{share:.1%}"


def signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Yield a line for each different signature that is not empty."""
    yield from (f"signature: {text}" for text in dict.fromkeys(signatures) if text)
