"""The tables that are published of a result: of scores, and of comparisons."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec.structs import replace

from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    MISSING,
    Group,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.best_scores import (
    Best,
    Column,
    best_tested,
    columns_of,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    ComparisonReport,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.reporters.tables.score_cells import (
    ALL,
    decimals_of,
    key_cells,
    labelled,
    left_out_notes,
    mark_notes,
    marks_of,
    notes_of,
    numbered,
    run_notes,
    unreadable_notes,
)
from harpia_formats.reporters.tables.table import (
    NONE,
    Cell,
    Heading,
    Note,
    Number,
    PValue,
    Score,
    Table,
    decimals_for,
)

_UNTESTED = "Differences between systems were not tested; score compare tests them."
#: The columns of counts, and what returns the count of a score.
_COUNTS: dict[str, Callable[[MetricScore], int]] = {
    "questions": attrgetter("questions"),
    "answers": attrgetter("count"),
    "answers left out": attrgetter("unscored"),
}


def scores_table(scores: Scores) -> Table:
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
) -> Table:
    """Return the table of some groups, whose first columns are `fields`.

    `names` has the cells of each of these columns.
    """
    columns = columns_of(groups)
    marks = marks_of(columns)
    cells = [
        list(score_cells(column, best.rows_of(column.key), marks)) for column in columns
    ]
    counts, count_notes = counts_of(groups)
    headings = [
        *(Heading(field, is_number=False) for field in fields),
        *(Heading(column.name, arrow=column.arrow) for column in columns),
        *map(Heading, counts),
    ]
    marked = " ".join([best.note, *best.reasons])
    notes = [*notes_of(columns, marked), *count_notes, *left_out_notes(groups)]
    named = zip(map(", ".join, zip(*names, strict=True)), groups, strict=True)
    are_named = names and len(groups) > 1
    shown = list(named) if are_named else [("", one) for one in groups]
    notes += [Note(f"{text[:1].upper()}{text[1:]}.") for text in uneven_notes(shown)]
    notes += unreadable_notes(shown)
    rows = zip(*names, *cells, *counts.values(), strict=True)
    return Table("Scores", tuple(headings), tuple(rows), tuple(notes))


def _names_of(
    scores: Scores, groups: Sequence[Group]
) -> tuple[list[str], list[list[str]]]:
    """Return the fields of the first columns, and the cells of each.

    A single system is called by its model, if that is known, or has no name.
    """
    fields = list((scores.groups or scores.systems)[0].key)
    cells = [key_cells(fields, group) for group in groups]
    names = list(map(list, zip(*cells, strict=True)))
    if "model" in fields:
        return fields, names
    if len(scores.models) == 1:
        return ["model", *fields], [[*scores.models] * len(groups), *names]
    return (fields, names) if fields else (["system"], [[ALL]])


def score_cells(
    column: Column, best: Container[int], marks: Mapping[str, str]
) -> Iterator[Score]:
    """Yield the cells of a column, of which those in the rows `best` are bold."""
    decimals = decimals_of(column.there)
    for at, score in enumerate(column.scores):
        if score is None or score.value is None:
            yield Score(None)
        else:
            mark = marks.get(score.remark, "")
            yield Score(score.value, score.interval, decimals, "", mark, at in best)


def counts_of(groups: Sequence[Group]) -> tuple[dict[str, list[Number]], list[Note]]:
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
            columns[name] = [
                range_text([count(one) for one in g.scores]) for g in groups
            ]
    return columns, notes


def range_text(counts: Sequence[int]) -> Number:
    """Return the least and the greatest of some counts, or the only one."""
    least, most = min(counts, default=0), max(counts, default=0)
    return Number(f"{least:,}" if least == most else f"{least:,} to {most:,}")


USUAL = 4
#: The columns of the answers of both systems that have no score.
LEFT_OUT = ("left out A", "left out B")
MAY_DISAGREE = "An interval is not that of the test: they may disagree about 0."


#: The columns of differences in a table that is published, by those of their cells.
_TEXTS = {"score": "score", "A": "A", "B": "B"}
_NUMBERS = {"difference": "A - B"} | {
    name: name for name in ("p", "p (Holm)", "detected", "questions")
}
_NEEDED = {"needed": "needed"}


def comparison_tables(found: ComparisonReport) -> Iterator[Table]:
    """Yield the scores of two systems, and their differences."""
    groups = [system.scores for system in found.systems]
    names = [system.name for system in found.systems]
    best = best_tested(found)
    yield table_of_groups(["system"], [names], groups, best)
    decimals = decimals_of_differences(found.compared)
    marks = marks_of_differences(found.compared)
    cells = [
        difference_cells(one, marks, decimals.get(one.full_name, USUAL))
        for one in found.compared
    ]
    shown = _TEXTS | _NUMBERS | ({} if found.detect is None else _NEEDED)
    columns = [Heading(new, name not in _TEXTS) for name, new in shown.items()]
    rows = [[row[name] for name in shown] for row in cells]
    yield Table("Differences", tuple(columns), rows, tuple(_notes_of_two(found)))


def decimals_of_differences(compared: Iterable[ComparedScore]) -> dict[str, int]:
    """Return the digits after the point of the differences of each score."""
    found: dict[str, int] = {}
    for score in compared:
        one = score.comparison
        if one is not None and one.high > one.low:
            decimals = decimals_for((one.high - one.low) / 2)
            found[score.full_name] = max(found.get(score.full_name, 0), decimals)
    return found


def marks_of_differences(compared: Sequence[ComparedScore]) -> dict[str, str]:
    """Return the mark of each remark on differences, and of why there are none."""
    tested = [one.comparison.remark for one in compared if one.comparison is not None]
    reasons = (one.reason for one in compared)
    return numbered(APPROXIMATE, tested) | numbered(MISSING, reasons)


def difference_cells(
    score: ComparedScore, marks: Mapping[str, str], decimals: int | None = None
) -> dict[str, Cell]:
    """Return the cells of a difference, by the names of their columns."""
    one = score.comparison
    found: dict[str, Cell] = {
        "score": score.full_name,
        **dict(zip("AB", score.systems, strict=True)),
        "first": "none" if score.first is None else Score(score.first),
        "second": "none" if score.second is None else Score(score.second),
        "difference": difference_cell(score, marks, decimals),
        **dict.fromkeys(("p", "p (Holm)", "detected")),
        "questions": score.questions,
        "needed": score.questions_needed,
        **dict(zip(LEFT_OUT, score.unscored, strict=True)),
    }
    if one is not None:
        mark = marks.get(one.remark, "") if one.is_approximate_p else ""
        found["p"] = PValue(one.p_value, one.is_least, mark)
        found["p (Holm)"] = PValue(score.adjusted_p, one.is_least, mark)
        found["detected"] = Score(one.detectable, decimals=decimals)
    return found


def difference_cell(
    score: ComparedScore, marks: Mapping[str, str], decimals: int | None
) -> Score:
    """Return the cell of a difference with its interval, or with why there is none."""
    one = score.comparison
    if one is None:
        return Score(None, mark=marks.get(score.reason, ""))
    mark = marks.get(one.remark, "")
    return Score(one.difference, (one.low, one.high), decimals, "+", mark)


def _notes_of_two(found: ComparisonReport) -> Iterator[Note]:
    """Yield what the numbers of two systems are, and how they were computed."""
    tested = [one.comparison for one in found.compared if one.comparison is not None]
    yield Note(
        "A - B: the difference over the questions that both have, and in brackets its "
        "confidence interval by question."
    )
    if found.has_other_intervals:
        yield Note(MAY_DISAGREE)
    if len(tested) > 1:
        yield Note(f"p (Holm): adjusted for all {len(tested):,} comparisons.")
    if tested:
        yield Note(detected_text(NONE, tested[0].alpha))
        if found.detect is not None:
            yield Note(needed_text(found.detect))
    yield from mark_notes(marks_of_differences(found.compared))
    yield from difference_notes(found)


def difference_notes(found: ComparisonReport) -> Iterator[Note]:
    """Yield what was left out of differences, and how they were tested."""
    compared = found.compared
    for pair in found.pairs:
        if pair.only_first or pair.only_second:
            yield Note(
                f"Not compared: {pair.only_first:,} questions only of {pair.first}, "
                f"{pair.only_second:,} only of {pair.second}."
            )
    yield from _left_out(compared)
    forced = dict.fromkeys(one.full_name for one in compared if one.is_forced)
    if forced:
        yield Note(
            f"Compared by force: signatures do not prove that {', '.join(forced)} was "
            "computed the same way in all systems."
        )
    methods = [
        (one.full_name, one.comparison)
        for one in compared
        if one.comparison is not None
    ]
    yield from labelled("Test", ((name, one.test) for name, one in methods))
    yield from labelled("Intervals", ((name, one.method) for name, one in methods))


def detected_text(none: str, alpha: float) -> str:
    """Return what the column "detected" has, with `none` where it has no number."""
    return (
        f"Detected: the smallest difference that these questions detect (p below "
        f"{alpha:g}) with a power of 80 % in a single test, without Holm's correction; "
        f"{none} if they detect none on the scale, or never differ."
    )


def needed_text(difference: float) -> str:
    """Return what the column of the questions that are needed has."""
    return (
        f"Needed: how many questions detect a difference of {difference:g} in the same "
        "way."
    )


def _left_out(compared: Sequence[ComparedScore]) -> Iterator[Note]:
    for score in compared:
        if any(score.unscored):
            one, other = score.unscored
            first, second = score.systems
            yield Note(
                f"Left out of {score.full_name}: {one:,} answers of {first}, {other:,} "
                f"of {second}."
            )
