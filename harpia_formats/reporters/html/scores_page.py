"""The page of scores: a table, intervals, signatures and methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from harpia_formats.evaluation.plots import Axis, Interval
from harpia_formats.evaluation.scoring.measures.metric_score import (
    Group,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.results.scores import (
    Scores,
    axes_of,
    confusion_tables,
    interval_of,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    section,
    sentence,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import (
    alerts,
    files_section,
    findings_section,
)
from harpia_formats.reporters.tables.score_tables import (
    count_cells,
    key_cells,
    labelled,
)
from harpia_formats.reporters.tables.table import table_of

#: Scores above the page.
_CARDS = 8
#: The columns of numbers of a score; the last ones are left out if they say nothing.
_NUMBERS = ("score", "questions", "answers", "left out", "unreadable")
#: Confusion matrices of one page, and labels of one of them.
_MATRICES, _LABELS = 8, 40


def page(scores: Scores) -> Page:
    """Return the page of scores."""
    answers = sum(system.answers for system in scores.systems)
    records = sum(file.records for file in scores.report.files)
    cards = [("records", f"{records:,}"), ("answers", f"{answers:,}")]
    if len(scores.systems) == 1:
        shown = scores.systems[0].scores[:_CARDS]
        cards += [(score.full_name, number(score.value)) for score in shown]
    if len(scores.systems) > 1:
        cards.append(("models", f"{len(scores.systems):,}"))
    if scores.skipped:
        cards.append(("left out", f"{scores.skipped:,}"))
    report = replace(scores.report, problems=scores.report.problems or scores.problems)
    return Page(
        "scores",
        _verdict(scores, answers),
        scores.ok,
        cards=cards,
        alerts=alerts(scores.report),
        sections=[
            _scores(scores),
            findings_section(report),
            files_section(scores.report),
        ],
    )


def _verdict(scores: Scores, answers: int) -> str:
    """Return how many answers were scored, or that there is no score."""
    if not scores.is_whole:
        return "no overall score"
    count = len(scores.systems[0].scores)
    models = f" of {len(scores.systems):,} models" if len(scores.systems) > 1 else ""
    return f"{with_noun(count, 'score')} of {with_noun(answers, 'answer')}{models}"


def _scores(scores: Scores) -> Section:
    """Return the table of scores, and how they were computed."""
    groups = list(scores.groups_by_system())
    if not groups:
        return section("scores", "Scores", [sentence("There is no score.")])
    parts = [_table(scores, groups), sentences(notes_of(groups, scores.notes))]
    return section("scores", "Scores", [*parts, *confusions(scores)])


def notes_of(groups: Sequence[Group], notes: Iterable[str]) -> Iterator[str]:
    """Yield how the scores of groups were computed, and the notes of their run."""
    every = [score for group in groups for score in group.scores]
    yield from (f"Signature: {one.signature}" for one in every if one.signature)
    methods = labelled("Intervals", ((one.full_name, one.method) for one in every))
    yield from (note.line for note in methods)
    yield from (one.remark for one in every if one.interval is not None)
    yield from uneven_notes((one.label, one) for one in groups)
    yield from notes


def confusions(scores: Scores) -> Iterator[Markup]:
    """Yield the confusion matrices of the models, as far as there is room for them."""
    found = list(confusion_tables(scores))
    for matrix in found[:_MATRICES]:
        size = len(matrix.confusion.labels)
        title = f"{matrix.title[:1].upper()}{matrix.title[1:]}"
        if size > _LABELS:
            yield sentence(f"{title}: this page has no room for {size:,} labels.")
            continue
        axes = f"{matrix.axes[:1].upper()}{matrix.axes[1:]}"
        yield sentence(f"{title}. {axes}.")
        columns = matrix.columns
        yield table(table_of(title, columns, matrix.rows, columns[1:]))
    if len(found) > _MATRICES:
        more = len(found) - _MATRICES
        yield sentence(f"This page has no room for {more:,} more tables of labels.")


def _table(scores: Scores, groups: list[Group]) -> Markup:
    fields = list(groups[0].key)
    columns = [*fields, "metric", *_NUMBERS]
    axes = axes_of(groups)
    rows = (
        [
            *key_cells(fields, group),
            score.full_name,
            interval_cell(interval_of(score), axes.get(score.full_name)),
            *count_cells(score).values(),
        ]
        for group in groups
        for score in group.scores
    )
    found = table(table_of("Scores", columns, rows, _NUMBERS, _NUMBERS[3:]))
    if axes:
        found += axes_sentence(axes)
    if scores.unknown:
        found += sentence(f"Cannot be computed: {', '.join(scores.unknown)}")
    return found


def axes_sentence(axes: Mapping[str, Axis]) -> Markup:
    """Return what is drawn in the cells of scores, and the ends of their axes."""
    ends = [f"{name} {axis.low:.4g} to {axis.high:.4g}" for name, axis in axes.items()]
    return sentence(f"Dots are scores, lines are intervals; axes: {', '.join(ends)}.")


def interval_cell(
    row: Interval, axis: Axis | None, remark: str = "", sign: str = ""
) -> Markup:
    """Return a number, its interval and a remark, and both on an axis, if any."""
    parts = [number(row.value, sign), "", Markup(axis.drawn(row) if axis else "")]  # noqa: S704 - our own text
    if row.low is not None and row.high is not None:
        remark = f"[{number(row.low, sign)}, {number(row.high, sign)}] {remark}"
    if remark:
        parts[1] = Markup('<span class="soft">{}</span>').format(remark.rstrip())
    return Markup().join(parts)


def number(value: float | None, sign: str = "") -> str:
    """Return a score with 4 decimals, or "none"."""
    return "none" if value is None else f"{value:{sign}.4f}"
