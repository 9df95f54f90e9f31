"""The table of scores: a row for each system and group, a column for each score."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

from harpia_formats.reporters.score_tables.columns import Column, Key
from harpia_formats.reporters.score_tables.notes import (
    APPROXIMATE,
    MISSING,
    left_out_notes,
    notes_of,
    run_notes,
)
from harpia_formats.reporters.score_tables.numbers import (
    NONE,
    decimals_of,
    interval_text,
    number_text,
)
from harpia_formats.reporters.score_tables.table import (
    Better,
    Cell,
    Heading,
    Note,
    Number,
    ScoreTable,
)
from harpia_formats.scoring.scores import Group, MetricScore, Scores

_ALL, _EMPTY = "(all)", "(empty)"
#: The columns of counts, and what returns the count of a score.
_COUNTS: dict[str, Callable[[MetricScore], int]] = {
    "questions": attrgetter("questions"),
    "answers": attrgetter("count"),
    "answers left out": attrgetter("unscored"),
}


def scores_table(scores: Scores) -> ScoreTable:
    """Return the table of the scores of a data set that was read to its end."""
    groups = list(_with_systems(scores))
    columns = [
        Column(key, tuple(_score_of(group, key) for group in groups))
        for key in _keys_of(groups)
    ]
    fields, names = _names_of(scores, groups)
    bold = [_best(column, scores, groups) for column in columns]
    cells = [
        list(_cells(column, best)) for column, best in zip(columns, bold, strict=True)
    ]
    counts, count_notes = _counts(groups)
    headings = [
        *(Heading(field, is_number=False) for field in fields),
        *(Heading(column.name, column.better) for column in columns),
        *(Heading(name) for name in counts),
    ]
    rows = zip(*names, *cells, *counts.values(), strict=True)
    notes = [*notes_of(columns, is_bold=any(map(any, bold))), *count_notes]
    notes += left_out_notes(scores.systems)
    systems = {id(system) for system in scores.systems}
    ends = [at for at, group in enumerate(groups) if id(group) in systems]
    return ScoreTable(
        "Scores" + (" of each system" if len(scores.systems) > 1 else ""),
        tuple(headings),
        tuple(rows),
        (*notes, *run_notes(scores)),
        frozenset(ends[:-1]) if scores.groups else frozenset(),
    )


def _with_systems(scores: Scores) -> Iterator[Group]:
    """Yield the groups of each system, and then the system."""
    for system in scores.systems:
        for group in scores.groups:
            if system.key.items() <= group.key.items():
                yield group
        yield system


def _keys_of(groups: Iterable[Group]) -> list[Key]:
    every = chain.from_iterable(group.scores for group in groups)
    return list(dict.fromkeys((score.metric, score.name) for score in every))


def _score_of(group: Group, key: Key) -> MetricScore | None:
    found = (one for one in group.scores if (one.metric, one.name) == key)
    return next(found, None)


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


def _best(column: Column, scores: Scores, groups: Sequence[Group]) -> list[bool]:
    """Return which scores of a column are the best, among those of several systems."""
    systems = {id(system) for system in scores.systems}
    values = [
        score.value
        for group, score in zip(groups, column.scores, strict=True)
        if id(group) in systems and score is not None and score.value is not None
    ]
    if len(values) <= 1 or column.better is Better.UNKNOWN:
        return [False] * len(groups)
    best = (min if column.better is Better.LOWER else max)(values)
    return [
        id(group) in systems and score is not None and score.value == best
        for group, score in zip(groups, column.scores, strict=True)
    ]


def _cells(column: Column, best: Iterable[bool]) -> Iterator[Cell]:
    decimals = decimals_of(column.there)
    for score, is_best in zip(column.scores, best, strict=True):
        if score is None or score.value is None:
            yield Number(NONE)
            continue
        mark = (MISSING if score.interval is None else APPROXIMATE) * bool(score.remark)
        limits = score.interval
        yield Number(
            number_text(score.value, decimals),
            "" if limits is None else interval_text(limits, decimals),
            mark,
            is_best,
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
