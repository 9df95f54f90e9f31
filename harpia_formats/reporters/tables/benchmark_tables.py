"""The tables of systems on benchmarks: scores, and differences from a baseline."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from harpia_formats.evaluation.scoring.results.compare_report import (
    Column,
    ComparedScore,
    ComparisonReport,
    alpha_of,
    best_tested,
    columns_of,
    tests_of,
)
from harpia_formats.reporters.tables.score_tables import (
    USUAL,
    counts_of,
    decimals_of,
    decimals_of_differences,
    difference_cell,
    difference_notes,
    labelled,
    mark_notes,
    marks_of,
    marks_of_differences,
    notes_of,
    notes_of_answers,
    range_text,
    score_cells,
    sentence_of,
)
from harpia_formats.reporters.tables.table import (
    Cell,
    Heading,
    Note,
    Number,
    Score,
    Table,
)


def benchmark_tables(
    result: BenchmarkScores | ComparisonReport,
) -> Iterator[Table]:
    """Yield the scores of systems on benchmarks, and their differences.

    Of a plan with a baseline, and of a comparison with one, these are differences from
    it; of another comparison they are a matrix for each score.
    """
    if isinstance(result, ComparisonReport):
        names = tuple(system.name for system in result.systems)
        found = BenchmarkScores(names, (result,), result.baseline)
    else:
        found = result
    columns = [
        (one, column)
        for one in found.benchmarks
        for column in columns_of([system.scores for system in one.systems])
    ]
    if not columns:
        return
    yield _table_of_benchmarks(found, columns)
    if found.baseline is not None and len(found.systems) > 1:
        yield _differences_from(found, found.baseline, columns)
    elif isinstance(result, ComparisonReport):
        for _, column in columns:
            yield _matrix(result, column)


#: The column of the names of systems, and the cell of a pair that occurs once.
_SYSTEM, _EMPTY = Heading("system", is_number=False), Number("")


def _matrix(found: ComparisonReport, column: Column) -> Table:
    """Return the differences between all systems by one score: row minus column.

    Each pair occurs once, above the diagonal.
    """
    names = [system.name for system in found.systems]
    mine = [one for one in found.compared if (one.metric, one.name) == column.key]
    own = replace(found, compared=tuple(mine))
    scores = {one.systems: one for one in mine}
    decimals = max(decimals_of_differences(scores.values()).values(), default=USUAL)
    marks = marks_of_differences([*scores.values()])
    pairs = [[scores.get((one, other)) for other in names[1:]] for one in names[:-1]]
    rows: list[list[Cell]] = [
        [
            f"{at} {name}",
            *(_from_baseline(one, decimals, marks) if one else _EMPTY for one in row),
        ]
        for at, (name, row) in enumerate(zip(names, pairs, strict=False), 1)
    ]
    numbers = [Heading(f"{at}") for at in range(2, len(names) + 1)]
    alpha = alpha_of(scores.values())
    notes = [
        Note(
            "The score of the system of each row minus that of the column; "
            f"{len(names)} is {names[-1]}."
        )
    ]
    if alpha is not None:
        notes.append(_bold_note(alpha, found, "of the comparison"))
    return Table(
        f"Differences of {column.name}",
        (_SYSTEM, *numbers),
        rows,
        (*notes, *mark_notes(marks), *difference_notes(own)),
    )


def _bold_note(alpha: float, found: ComparisonReport, of_what: str) -> Note:
    pairs = found.family if found.baseline else f"{found.family} of systems"
    return Note(
        "In brackets: the confidence interval by question. Bold: p below "
        f"{alpha:g}, adjusted by Holm for {pairs} and scores {of_what}."
    )


#: A benchmark with one of its scores.
_BenchmarkColumn = tuple[ComparisonReport, Column]


def _headings(columns: Iterable[_BenchmarkColumn]) -> list[Heading]:
    """Return the first column, and those of scores of benchmarks."""
    return [
        _SYSTEM,
        *(
            Heading(column.name, arrow=column.arrow, group=one.name)
            for one, column in columns
        ),
    ]


def _table_of_benchmarks(
    found: BenchmarkScores, columns: Sequence[_BenchmarkColumn]
) -> Table:
    """Return the table of systems by benchmarks."""
    own, bold, notes = [], [], []
    reasons: dict[str, None] = {}
    for one, column in columns:
        best = best_tested(one)
        names = [system.name for system in one.systems]
        rows = {names[at] for at in best.rows_of(column.key)}
        bold.append({at for at, name in enumerate(found.systems) if name in rows})
        scores = [one.scores_of(name).get(column.key) for name in found.systems]
        own.append(Column(column.key, tuple(scores), one.name))
        notes.append(best.note)
        where = f"{one.name}: " if one.name else ""
        reasons |= dict.fromkeys(f"{where}{reason}" for reason in best.reasons)
    marks = marks_of(own)
    cells = [
        list(score_cells(column, rows, marks))
        for column, rows in zip(own, bold, strict=True)
    ]
    headings = _headings(columns)
    below: list[Note] = []
    if found.has_mean:
        headings.append(Heading("mean", arrow=headings[1].arrow))
        decimals = decimals_of(chain.from_iterable(column.there for column in own))
        means = found.means().values()
        cells.append([Score(mean, decimals=decimals) for mean in means])
        over = dict.fromkeys(one.name for one, _ in columns)
        firsts = [next(c.name for b, c in columns if b.name == name) for name in over]
        parts = ", ".join(
            f"{name} ({score})" for name, score in zip(over, firsts, strict=True)
        )
        below.append(Note(f"Mean: of {parts}, without an interval or a test."))
    groups = [system.scores for one in found.benchmarks for system in one.systems]
    _, counts = counts_of(groups)
    shown = [
        (f"{system.name} on {one.name}" if one.name else system.name, system.scores)
        for one in found.benchmarks
        for system in one.systems
    ]
    return Table(
        "Scores of systems on benchmarks" if found.benchmarks[0].name else "Scores",
        tuple(headings),
        tuple(zip(found.systems, *cells, strict=True)),
        (
            *notes_of(own, " ".join([next(filter(None, notes), ""), *reasons])),
            *below,
            *counts,
            *_benchmark_counts(found),
            *notes_of_answers(shown),
            *(labelled("Test", _tests(found)) if found.benchmarks[0].name else ()),
            *([sentence_of(found.passed_over)] if found.passed_over else ()),
        ),
    )


def _benchmark_counts(found: BenchmarkScores) -> Iterator[Note]:
    """Yield the questions of each benchmark, and its answers left out, that differ."""
    for label, key in (("Questions", "questions"), ("Answers left out", "unscored")):
        count = attrgetter(key)
        counts = {
            one.name: [count(score) for of in one.systems for score in of.scores.scores]
            for one in found.benchmarks
        }
        if len(set(chain.from_iterable(counts.values()))) > 1:
            parts = (f"{name} {range_text(own).text}" for name, own in counts.items())
            yield Note(f"{label}: {', '.join(map(str.lstrip, parts))}.")


def _tests(found: BenchmarkScores) -> Iterator[tuple[str, str]]:
    """Yield the name of each score of a benchmark with its test."""
    for one in found.benchmarks:
        for name, test in tests_of(one.compared):
            yield f"{one.name} {name}", test.test


def _differences_from(
    found: BenchmarkScores, baseline: str, columns: Sequence[_BenchmarkColumn]
) -> Table:
    """Return the table of the differences of all other systems from one."""
    systems = [name for name in found.systems if name != baseline]
    compared = [
        [one.difference(system, baseline, column.key) for system in systems]
        for one, column in columns
    ]
    every = [score for column in compared for score in column if score is not None]
    marks = marks_of_differences(every)
    cells = []
    for column in compared:
        there = [score for score in column if score is not None]
        decimals = max(decimals_of_differences(there).values(), default=USUAL)
        cells.append([_from_baseline(score, decimals, marks) for score in column])
    alpha = alpha_of(every)
    notes = [Note(f"The score of each system minus that of {baseline}.")]
    if alpha is not None:
        notes.append(_bold_note(alpha, found.benchmarks[0], "of the benchmark"))
    if not found.benchmarks[0].name:
        notes += difference_notes(found.benchmarks[0])
    return Table(
        f"Differences from {baseline}",
        tuple(_headings(columns)),
        tuple(zip(systems, *cells, strict=True)),
        (*notes, *mark_notes(marks)),
    )


def _from_baseline(
    score: ComparedScore | None, decimals: int, marks: Mapping[str, str]
) -> Score:
    """Return the cell of a difference, bold if it is significant."""
    if score is None:
        return Score(None)
    found = difference_cell(score, marks, decimals)
    return replace(found, is_bold=score.is_significant)
