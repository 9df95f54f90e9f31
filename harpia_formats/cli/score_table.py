"""Scores in a terminal: tables, and below them confusion matrices and notes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from harpia_formats.cli.streams_and_exit_codes import MESSAGE_LIMIT, fitted, width_of
from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    MISSING,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.scores import Scores, confusion_tables
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.tables.score_tables import (
    count_cells,
    key_cells,
    labelled,
    numbered,
)
from harpia_formats.reporters.tables.table import (
    Cell,
    Note,
    Number,
    Score,
    Table,
    table_of,
)
from harpia_formats.reporters.tables.terminal import has_room, note_line, ruled_lines

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
        first, *others = found.columns
        table = table_of(title, found.columns, found.rows, {*others} - {first})
        yield from ruled_lines(table, width_of(stream), gap=2)


#: The columns behind the name of a score.
_NUMBERS = ("score", "interval", "questions", "answers", "left out", "unreadable")


def score_lines(scores: Scores, stream: TextIO) -> Iterator[str]:
    """Yield the table of scores, below it their signatures, methods and labels.

    They fit into the terminal if `stream`, which they are for, is one.
    """
    groups, width = list(scores.groups_by_system()), width_of(stream)
    every = [score for group in groups for score in group.scores]
    fields = list((scores.groups or scores.systems)[0].key)
    numbers = _numbers_of(scores)
    rows = [
        [*key_cells(fields, group), *_score_cells(score, scores, numbers)]
        for group in groups
        for score in group.scores
    ]
    # An interval may be the reason why there is none, which is text.
    aligned = {*numbers} - {"interval"}
    table = table_of("Scores", [*fields, "metric", *numbers], rows, aligned)
    reasons: list[str] = []
    if "interval" in numbers and not has_room(table, width):
        # Why there is no interval has room below the table.
        missing = [score.remark if score.interval is None else "" for score in every]
        marks = numbered(MISSING, missing)
        for row, reason in zip(rows, missing, strict=True):
            if reason:
                row[table.names.index("interval")] = f"none {marks[reason]}"
        reasons = [f"{mark} {reason}" for reason, mark in marks.items()]
    yield from ruled_lines(table, width)
    yield ""
    uneven = uneven_notes((one.label, one) for one in groups)
    yield from below_lines([*_lines_below(every), *reasons, *uneven], stream)
    yield from confusion_lines(scores, stream)


def _numbers_of(scores: Scores) -> list[str]:
    """Return the columns of numbers that say something of some scores."""
    every = [score for system in scores.systems for score in system.scores]
    is_shown = {
        "interval": any(score.method or score.remark for score in every),
        "questions": any(score.questions < score.count for score in every),
        "left out": any(score.unscored for score in every),
        "unreadable": any(score.unreadable is not None for score in every),
    }
    return [name for name in _NUMBERS if is_shown.get(name, True)]


def _score_cells(
    score: MetricScore, scores: Scores, numbers: Iterable[str]
) -> Iterator[Cell]:
    """Yield the cells of a score behind those of its group."""
    is_redefined = score.metric in scores.redefined
    yield f"{score.full_name} ({scores.profile})" if is_redefined else score.full_name
    cells: dict[str, Cell] = {
        "score": Score(score.value),
        "interval": score.remark,
        **count_cells(score),
    }
    if score.interval is not None:
        limits = Score(score.value, score.interval).limits(" to ")
        cells["interval"] = Number(limits, mark=APPROXIMATE if score.remark else "")
    yield from (cells[name] for name in numbers)


def _lines_below(scores: Sequence[MetricScore]) -> Iterator[str]:
    """Yield how scores and their intervals were computed."""
    yield from signature_lines(score.signature for score in scores)
    yield from label_lines("intervals", ((one.full_name, one.method) for one in scores))
    yield from remark_lines(one.remark for one in scores if one.interval is not None)


def label_lines(what: str, labels: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each different label of scores, with the names of these."""
    return map(note_line, labelled(what, labels))


def remark_lines(remarks: Iterable[str]) -> Iterator[str]:
    """Yield a line for each different remark on approximate numbers."""
    return (f"{APPROXIMATE} {text}" for text in dict.fromkeys(remarks) if text)


#: Notes below a table in a terminal.
_MOST_NOTES = 5


def published_lines(tables: Iterable[Table], stream: TextIO) -> Iterator[str]:
    """Yield the lines of tables, and below them their first notes.

    They fit into the terminal if `stream`, which they are for, is one: without
    intervals where there is no room for them.
    """
    notes: list[Note] = []
    for found in tables:
        yield from ruled_lines(found, width_of(stream))
        yield ""
        notes += found.notes
    # What marks mean comes first; signatures are long, and say least at a glance.
    notes.sort(key=lambda note: (not note.mark, "Bold:" not in note.text, note.code))
    yield from below_lines(few_lines(dict.fromkeys(map(note_line, notes))), stream)


def few_lines(lines: Iterable[str]) -> list[str]:
    """Return lines, of many the first ones and where the others are."""
    found = list(lines)
    if len(found) <= _MOST_NOTES:
        return found
    more = len(found) - _MOST_NOTES + 1
    shown = found[: _MOST_NOTES - 1]
    return [*shown, f"{more:,} more: with `--output-format markdown`"]


def below_lines(lines: Iterable[str], stream: TextIO) -> list[str]:
    """Return lines below a table, which may name stored scores and signatures."""
    return fitted((safe(line, MESSAGE_LIMIT) for line in lines), stream)


def signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Yield a line for each different signature that is not empty."""
    yield from (f"signature: {text}" for text in dict.fromkeys(signatures) if text)
