"""The table of scores: a row for each system and group, a column for each score."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from harpia_formats.evaluation.scoring.metric_score import (
    Group,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.reporters.score_tables.best import Best
from harpia_formats.reporters.score_tables.columns import Column, columns_of
from harpia_formats.reporters.score_tables.notes import (
    left_out_notes,
    marks_of,
    notes_of,
    run_notes,
    unreadable_notes,
)
from harpia_formats.reporters.score_tables.numbers import (
    NONE,
    decimals_of,
    interval_text,
    number_text,
)
from harpia_formats.reporters.score_tables.table import (
    Cell,
    Heading,
    Note,
    Number,
    ScoreTable,
)

_UNTESTED = "Differences between systems were not tested; score compare tests them."
_ALL, _EMPTY = "(all)", "(empty)"
#: The columns of counts, and what returns the count of a score.
_COUNTS: dict[str, Callable[[MetricScore], int]] = {
    "questions": attrgetter("questions"),
    "answers": attrgetter("count"),
    "answers left out": attrgetter("unscored"),
}


def scores_table(scores: Scores) -> ScoreTable:
    """Return the table of the scores of a data set that was read to its end."""
    groups = list(scores.groups_by_system())
    systems = {id(system) for system in scores.systems}
    ends = [at for at, group in enumerate(groups) if id(group) in systems]
    fields, names = _names_of(scores, groups)
    no_bold = Best({}, _UNTESTED if len(scores.systems) > 1 else "")
    table = table_of_groups(fields, names, groups, no_bold)
    return replace(
        table,
        notes=(*table.notes, *run_notes(scores)),
        breaks=frozenset(ends[:-1]) if scores.groups else frozenset(),
    )


def table_of_groups(
    fields: Sequence[str],
    names: Iterable[Sequence[Cell]],
    groups: Sequence[Group],
    best: Best,
) -> ScoreTable:
    """Return the table of some groups, whose first columns are `fields`.

    `names` has the cells of each of these columns.
    """
    columns = columns_of(groups)
    marks = marks_of(columns)
    cells = [
        list(_cells(column, best.rows_of(column.key), marks)) for column in columns
    ]
    counts, count_notes = _counts(groups)
    headings = [
        *(Heading(field, is_number=False) for field in fields),
        *(Heading(column.name, column.better) for column in columns),
        *(Heading(name) for name in counts),
    ]
    notes = [*notes_of(columns, best.note), *count_notes, *left_out_notes(groups)]
    named = zip(map(", ".join, zip(*names, strict=True)), groups, strict=True)
    are_named = names and len(groups) > 1
    shown = list(named) if are_named else [("", one) for one in groups]
    notes += [Note(f"{text[:1].upper()}{text[1:]}.") for text in uneven_notes(shown)]
    notes += unreadable_notes(shown)
    rows = zip(*names, *cells, *counts.values(), strict=True)
    return ScoreTable("Scores", tuple(headings), tuple(rows), tuple(notes))


def _names_of(
    scores: Scores, groups: Sequence[Group]
) -> tuple[list[str], list[list[str]]]:
    """Return the fields of the first columns, and the cells of each.

    A single system is called by its model, if that is known, or has no name.
    """
    fields = list((scores.groups or scores.systems)[0].key)
    names = [
        [group.key.get(field, _ALL) or _EMPTY for group in groups] for field in fields
    ]
    if "model" in fields:
        return fields, names
    if len(scores.models) == 1:
        return ["model", *fields], [[*scores.models] * len(groups), *names]
    return (fields, names) if fields else (["system"], [[_ALL]])


def _cells(
    column: Column, best: Container[int], marks: Mapping[str, str]
) -> Iterator[Cell]:
    """Yield the cells of a column, of which those in the rows `best` are bold."""
    decimals = decimals_of(column.there)
    for at, score in enumerate(column.scores):
        if score is None or score.value is None:
            yield Number(NONE)
            continue
        limits = score.interval
        yield Number(
            number_text(score.value, decimals),
            "" if limits is None else interval_text(limits, decimals),
            marks.get(score.remark, ""),
            at in best,
        )


def _counts(groups: Sequence[Group]) -> tuple[dict[str, list[Number]], list[Note]]:
    """Return the columns of counts that differ between rows, and notes on the others.

    A cell has the least and the greatest number of the scores of its row.
    """
    columns: dict[str, list[Number]] = {}
    notes = []
    every = [score for group in groups for score in group.scores]
    has_one_each = all(score.count == score.questions for score in every)
    for name, count in _COUNTS.items():
        found = {count(score) for score in every}
        if name == "answers" and has_one_each:
            notes.append(Note("Each question has one scored answer."))
        elif len(found) == 1:
            notes.append(Note(f"{name.capitalize()}: {found.pop():,}."))
        elif found:
            columns[name] = [_range([count(one) for one in g.scores]) for g in groups]
    return columns, notes


def _range(counts: Sequence[int]) -> Number:
    least, most = min(counts, default=0), max(counts, default=0)
    return Number(f"{least:,}" if least == most else f"{least:,} to {most:,}")
