"""The page of scores: a table, intervals, signatures and methods."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from markupsafe import Markup

from harpia_formats.evaluation.scoring.metric_score import (
    Group,
    MetricScore,
    uneven_notes,
)
from harpia_formats.evaluation.scoring.score_charts import score_charts
from harpia_formats.evaluation.scoring.scores import Scores, confusion_tables
from harpia_formats.model.describe import with_noun
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    charts,
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

#: Scores above the page.
_CARDS = 8
#: Stands for a value that is the empty text.
_EMPTY = "(empty)"
#: Confusion matrices of one page, and labels of one of them.
_MATRICES, _LABELS = 8, 40


def page(scores: Scores) -> Page:
    """Return the page of scores."""
    answers = sum(system.answers for system in scores.systems)
    records = sum(file.records for file in scores.report.files)
    cards = [("records", f"{records:,}"), ("answers", f"{answers:,}")]
    if len(scores.systems) == 1:
        shown = scores.systems[0].scores[:_CARDS]
        cards += [(full_name(score), number(score.value)) for score in shown]
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
            *scores_sections(scores),
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


def scores_sections(
    scores: Scores, title: str = "Scores", name: str = "scores"
) -> list[Section]:
    """Return the table of scores with charts, and how they were computed."""
    groups = list(scores.groups_by_system())
    if not groups:
        return [section(name, title, [sentence("There is no score.")])]
    parts = [
        *charts(score_charts(scores.groups_by_system(), scores.systems, name)),
        _table(scores, groups, title),
    ]
    every = [score for group in groups for score in group.scores]
    parts.append(
        sentences(
            [
                *(f"Signature: {one.signature}" for one in every if one.signature),
                *method_lines((full_name(one), one.method) for one in every),
                *(one.remark for one in every if one.interval is not None),
                *uneven_notes((", ".join(one.key.values()), one) for one in groups),
                *scores.said,
            ]
        )
    )
    parts += _confusions(scores)
    return [section(name, title, [part for part in parts if part])]


def _confusions(scores: Scores) -> Iterator[Markup]:
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
        yield table(title, columns, matrix.rows, columns[1:])
    if len(found) > _MATRICES:
        more = len(found) - _MATRICES
        yield sentence(f"This page has no room for {more:,} more tables of labels.")


def full_name(score: MetricScore) -> str:
    """Return the name of a score, with that of its metric if they differ."""
    if score.metric == score.name:
        return score.name
    return f"{score.metric}.{score.name}"


def method_lines(
    pairs: Iterable[tuple[str, str]], what: str = "Intervals"
) -> Iterator[str]:
    """Yield each method of some named scores once, with the names."""
    names: dict[str, dict[str, None]] = {}
    for name, method in pairs:
        if method:
            names.setdefault(method, {})[name] = None
    for method, found in names.items():
        yield f"{what} of {', '.join(found)}: {method}"


def _table(scores: Scores, groups: list[Group], title: str) -> Markup:
    fields = list(groups[0].key)
    numbers = ["score", "low", "high", "questions", "answers", "left out"]
    numbers += ["unreadable"]
    columns = [*fields, "metric", *numbers]
    rows = (
        [
            *(group.key.get(field, "(all)") or _EMPTY for field in fields),
            full_name(score),
            number(score.value),
            *(number(side) for side in score.interval or (None, None)),
            f"{score.questions:,}",
            f"{score.count:,}",
            f"{score.unscored:,}",
            "" if score.unreadable_share is None else f"{score.unreadable_share:.1%}",
        ]
        for group in groups
        for score in group.scores
    )
    optional = ("low", "high", "left out", "unreadable")
    found = table(title, columns, rows, numbers, optional=optional)
    if scores.unknown:
        found += sentence(f"Cannot be computed: {', '.join(scores.unknown)}")
    return found


def number(value: float | None, sign: str = "") -> str:
    """Return a score with 4 decimals, or "none"."""
    return "none" if value is None else f"{value:{sign}.4f}"
