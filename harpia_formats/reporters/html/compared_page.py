"""The pages of several systems: a comparison of scores, and a table of benchmarks."""

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from harpia_formats.evaluation.plots import Axis
from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from harpia_formats.evaluation.scoring.measures.metric_score import (
    MetricScore,
    arrow_of,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    ComparisonReport,
    alpha_of,
    difference_axes,
    difference_of,
    is_share,
    marks_of_differences,
    tests_of,
)
from harpia_formats.evaluation.scoring.results.scores import axes_of, interval_of
from harpia_formats.model.describe import with_noun
from harpia_formats.model.text_columns import short_names
from harpia_formats.reporters.html.page import (
    Page,
    Room,
    Section,
    section,
    sentence,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import alerts, files_section
from harpia_formats.reporters.html.scores_page import (
    axes_sentence,
    confusions,
    interval_cell,
    notes_of,
)
from harpia_formats.reporters.tables.benchmark_tables import benchmark_tables
from harpia_formats.reporters.tables.score_tables import (
    LEFT_OUT,
    MAY_DISAGREE,
    detected_text,
    difference_cells,
    method_notes,
    needed_text,
)
from harpia_formats.reporters.tables.table import Cell, table_of

#: Scores in a row of the table of systems.
_ACROSS = 6
#: Bytes of all tables of a section.
_ROOM = 80_000
_NUMBERS = ("difference", "p (Holm)", "p", "questions")
#: The columns of both scores, unless they have the names of the systems.
_NAMES = ["first", "second"]
_LEFT_OUT = ("left out of first", "left out of second")
_OPTIONAL = ("detected", "needed", *_LEFT_OUT, "remark")


def page(found: ComparisonReport) -> Page:
    """Return the page of a comparison."""
    names = [system.name for system in found.systems]
    shown = dict(zip(names, short_names(names), strict=True))
    questions = max((score.questions for score in found.compared), default=0)
    cards = [("questions of a pair", f"{questions:,}")]
    for pair in found.pairs if found.is_of_two else ():
        if pair.only_first or pair.only_second:
            cards.append((f"only in {shown[pair.first]}", f"{pair.only_first:,}"))
            cards.append((f"only in {shown[pair.second]}", f"{pair.only_second:,}"))
    systems = "two systems" if found.is_of_two else f"{len(found.systems):,} systems"
    return Page(
        "comparison of scores",
        f"{with_noun(len(found.compared), 'score')} of {systems} compared",
        found.ok,
        cards=cards,
        alerts=alerts(*found.reports),
        sections=[
            _systems(found, shown),
            _differences(found, shown),
            files_section(*found.reports),
        ],
    )


def _systems(found: ComparisonReport, shown: Mapping[str, str]) -> Section:
    """Return the scores of each system over all of its answers: a row for each."""
    groups = [system.scores for system in found.systems]
    arrows = {one.full_name: arrow_of(one) for group in groups for one in group.scores}
    axes, names, room = axes_of(groups), list(arrows), Room(_ROOM)
    parts = []
    for at in range(0, len(names), _ACROSS):
        rows: list[list[Cell]] = []
        for system in found.systems:
            own = {one.full_name: one for one in system.scores.scores}
            cells = [
                _score_cell(own[name], axes.get(name)) if name in own else "none"
                for name in names[at : at + _ACROSS]
            ]
            rows.append([shown[system.name], system.scores.answers, *cells])
        scores = [f"{name}\u00a0{arrows[name]}" for name in names[at : at + _ACROSS]]
        columns = ["system", "answers", *scores]
        parts.append(table(table_of("Systems", columns, rows, columns[1:]), room=room))
    parts.append(axes_sentence(axes) if axes else sentence("There is no score."))
    every = [note for one in found.scores for note in one.notes]
    notes = [note for note in every if note not in found.notes]
    names = [f"{shown[one]} is {one}." for one in shown if shown[one] != one]
    parts.append(sentences([*names, *notes_of(groups, notes)]))
    for one in found.scores:
        parts += confusions(one)
    return section("systems", "Systems", parts)


def _score_cell(score: MetricScore, axis: Axis | None) -> Markup:
    """Return a score with how many answers have none, and how many are unreadable."""
    parts = [f"{score.unscored:,} left out"] if score.unscored else []
    if score.unreadable_share:
        parts.append(f"{score.unreadable_share:.1%} unreadable")
    return interval_cell(interval_of(score), axis, ", ".join(parts))


def _differences(found: ComparisonReport, shown: Mapping[str, str]) -> Section:
    """Return the differences, those of each first system of pairs below its name."""
    compared, room, axes = found.compared, Room(_ROOM), difference_axes(found.compared)
    parts = []
    for first in dict.fromkeys(score.systems[0] for score in compared):
        own = [score for score in compared if score.systems[0] == first]
        second = own[0].systems[1] if found.is_of_two else "other systems"
        names = [shown[first], shown[second]] if found.is_of_two else _NAMES
        columns = ["system", "score", *names, *_NUMBERS, *_OPTIONAL][found.is_of_two :]
        differences = [_cells(one, found, shown, axes[is_share(one)]) for one in own]
        rows = [cells[found.is_of_two :] for cells in differences]
        title = f"{first} \u2212 {second}"
        numbers = columns[2 - found.is_of_two : -1]
        optional = ("p (Holm)", *_OPTIONAL)
        one = table_of(title, columns, rows, numbers, optional, none="")
        parts.append(table(one, title, room))
    parts = parts or [sentence("Nothing was compared.")]
    parts.append(sentences(_explanations(found)))
    return section("differences", "Differences", parts)


def _explanations(found: ComparisonReport) -> Iterator[str]:
    """Yield what the marks are, and how scores and tests were computed."""
    alpha = alpha_of(found.compared)
    yield from marks_of_differences(found.compared, found.arrows.values())
    if not found.is_of_two:
        yield f"p (Holm) is adjusted for {found.family} and scores."
    known = {one.signature for system in found.systems for one in system.scores.scores}
    others = {one.signature: None for one in found.compared if one.signature}
    yield from (f"Signature: {one}" for one in others if one not in known)
    yield from (note.line for note in method_notes("Tests", found.compared))
    if found.has_other_intervals:
        yield MAY_DISAGREE
    if alpha is not None:
        yield detected_text("none", alpha)
        if found.detect:
            yield needed_text(found.detect)
    yield from (one.remark for _, one in tests_of(found.compared))
    yield from found.notes


def _cells(
    score: ComparedScore, found: ComparisonReport, shown: Mapping[str, str], axis: Axis
) -> list[Cell]:
    """Return the row of a difference, the name of the second system first."""
    one, arrow = score.comparison, found.arrows.get((score.metric, score.name), "")
    cells = difference_cells(score, {})
    drawn = "" if one is None else interval_cell(difference_of(score), axis, sign="+")
    if one is not None and one.detectable is None:
        cells["detected"] = "none"
    return [
        shown[score.systems[1]],
        f"{score.full_name}\u00a0{arrow}",
        *(cells[name] for name in ("first", "second")),
        drawn,
        *(cells[name] for name in ("p (Holm)", "p", "questions", "detected", "needed")),
        *(cells[name] for name in LEFT_OUT),
        score.reason or (one.remark if one else ""),
    ]


def benchmarks_page(found: BenchmarkScores) -> Page:
    """Return the page of systems on benchmarks: the tables that are published."""
    systems = with_noun(len(found.systems), "system")
    benchmarks = with_noun(len(found.benchmarks), "benchmark")
    reports = [report for one in found.benchmarks for report in one.reports]
    sections = []
    for at, one in enumerate(benchmark_tables(found), 1):
        parts = [table(one), sentences(note.line for note in one.notes)]
        sections.append(section(f"table-{at}", one.title, parts))
    return Page(
        "scores of systems on benchmarks",
        f"{systems} on {benchmarks}",
        found.ok,
        alerts=alerts(*reports),
        sections=[*sections, files_section(*reports)],
    )
