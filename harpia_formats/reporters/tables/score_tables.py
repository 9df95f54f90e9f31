"""The tables that are published of a result: of scores, and of comparisons."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec.structs import replace

from harpia_formats.evaluation.scoring.measures.metric_score import (
    APPROXIMATE,
    EMPTY,
    MISSING,
    Group,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    Best,
    Column,
    ComparedScore,
    ComparisonReport,
    best_tested,
    columns_of,
    tests_of,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.vendor_metrics import LIMITS
from harpia_formats.reporters.tables.table import (
    NONE,
    Cell,
    Heading,
    Note,
    Number,
    PValue,
    Score,
    Share,
    Table,
    decimals_for,
)

#: Stands for all values of a field.
ALL = "(all)"


def key_cells(fields: Iterable[str], group: Group) -> list[str]:
    """Return the values of fields by which a group is identified."""
    return [group.key.get(field, ALL) or EMPTY for field in fields]


def count_cells(score: MetricScore) -> dict[str, Cell]:
    """Return the cells of how many answers a score is of, by their columns."""
    return {
        "questions": score.questions,
        "answers": score.count,
        "left out": score.unscored,
        "unreadable": Share(score.unreadable_share),
    }


#: Digits behind the point of scores without an interval.
_USUAL = {"0-1": 3, "0-100": 1}
_OTHER = 3


def decimals_of(scores: Iterable[MetricScore]) -> int:
    """Return how many digits after the point the scores of a column have.

    Half the width of the narrowest interval has two significant digits.
    """
    scores = list(scores)
    limits = (score.interval for score in scores if score.interval is not None)
    widths = [high - low for low, high in limits if high > low]
    if not widths:
        return _USUAL.get(scores[0].scale, _OTHER) if scores else _OTHER
    return decimals_for(min(widths) / 2)


def notes_of(columns: Sequence[Column], bold: str) -> Iterator[Note]:
    """Yield what the numbers are, what `bold` means, and how they were computed."""
    every = [score for column in columns for score in column.there]
    if any(score.interval for score in every):
        yield Note(
            "In brackets: the confidence interval by question. Numbers have the digits "
            "that the narrowest interval of their column carries."
        )
    if bold:
        yield Note(bold)
    yield from _scale_notes(columns)
    yield from mark_notes(marks_of(columns))
    if any(score.value is None for score in every):
        yield Note("No answer could be scored.", mark=NONE)
    named = [(column.full_name, one) for column in columns for one in column.there]
    yield from labelled("Signature", ((name, one.signature) for name, one in named))
    yield from labelled("Intervals", ((name, one.method) for name, one in named))


def marks_of(columns: Iterable[Column]) -> dict[str, str]:
    """Return the mark of each remark on scores: one for approximate intervals."""
    every = [score for column in columns for score in column.there]
    there = [score.remark for score in every if score.interval is not None]
    missing = [score.remark for score in every if score.interval is None]
    return numbered(APPROXIMATE, there) | numbered(MISSING, missing)


def numbered(mark: str, remarks: Iterable[str]) -> dict[str, str]:
    """Return the mark of each different remark: once for the first, then twice."""
    found = filter(None, dict.fromkeys(remarks))
    return {remark: mark * number for number, remark in enumerate(found, 1)}


def mark_notes(marks: Mapping[str, str]) -> Iterator[Note]:
    """Yield the remarks for which marks stand."""
    for remark, mark in marks.items():
        yield sentence_of(remark, mark)


def sentence_of(text: str, mark: str = "") -> Note:
    """Return a text as a note, which is a sentence."""
    return Note(f"{text[:1].upper()}{text[1:]}.", mark=mark)


def labelled(what: str, labels: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Yield a note for each different label of scores, with the names of these.

    `labels` has the name and the label of each score, "" for none.
    """
    names: dict[str, dict[str, None]] = {}
    for name, label in labels:
        if label:
            names.setdefault(label, {})[name] = None
    for label, found in names.items():
        yield Note(f"{what} of {', '.join(found)}", label)


def _scale_notes(columns: Sequence[Column]) -> Iterator[Note]:
    scales: dict[str, list[str]] = {}
    for column in columns:
        limits = LIMITS.get(column.there[0].scale)
        scale = "not known" if limits is None else "{:g} to {:g}".format(*limits)
        scales.setdefault(scale, []).append(column.full_name)
    for scale, names in scales.items():
        yield Note(f"Scale {scale}: {', '.join(names)}")


def left_out_notes(systems: Iterable[Group]) -> Iterator[Note]:
    """Yield which questions have too few answers for a score."""
    for system in systems:
        yield from (Note(f"{note}.") for _, note in system.left_out())


def notes_of_answers(groups: Sequence[tuple[str, Group]]) -> Iterator[Note]:
    """Yield which questions have unequal numbers of answers, and what was unreadable.

    An answer that a metric could not read is wrong. Each group has a name, "" for the
    only one.
    """
    yield from map(sentence_of, uneven_notes(groups))
    for whose, group in groups:
        for score in group.scores:
            if score.unreadable_share is not None:
                name = f"{score.full_name} of {whose}" if whose else score.full_name
                share = f"{score.unreadable_share:.1%}"
                yield Note(f"{name}: {share} of the answers are unreadable, so wrong.")


def run_notes(scores: Scores) -> Iterator[Note]:
    """Yield what was left out of the scores, and metrics that were not computed."""
    if scores.skipped:
        yield Note(f"Invalid rows that were left out: {scores.skipped:,}.")
    if scores.unknown:
        yield Note(f"Not computed: {', '.join(scores.unknown)}.")


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
    notes += notes_of_answers(shown)
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
    for name, one in tests_of(compared):
        if one.high > one.low:
            decimals = decimals_for((one.high - one.low) / 2)
            found[name] = max(found.get(name, 0), decimals)
    return found


def marks_of_differences(compared: Sequence[ComparedScore]) -> dict[str, str]:
    """Return the mark of each remark on differences, and of why there are none."""
    remarks = (test.remark for _, test in tests_of(compared))
    reasons = (one.reason for one in compared)
    return numbered(APPROXIMATE, remarks) | numbered(MISSING, reasons)


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
    tested = tests_of(found.compared)
    yield Note(
        "A - B: the difference over the questions that both have, and in brackets its "
        "confidence interval by question."
    )
    if found.has_other_intervals:
        yield Note(MAY_DISAGREE)
    if len(tested) > 1:
        yield Note(f"p (Holm): adjusted for all {len(tested):,} comparisons.")
    if tested:
        yield Note(detected_text(NONE, tested[0][1].alpha))
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
    yield from method_notes("Test", compared)


def method_notes(test: str, compared: Iterable[ComparedScore]) -> Iterator[Note]:
    """Yield how differences, behind the word `test`, and intervals were computed."""
    tested = tests_of(compared)
    yield from labelled(test, ((name, one.test) for name, one in tested))
    yield from labelled("Intervals", ((name, one.method) for name, one in tested))


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
