"""The page of a comparison of scores: both scores, differences and tests."""

from collections.abc import Sequence

from harpia_formats.plots import Interval, intervals
from harpia_formats.reporters.html.page import Page, Section, section
from harpia_formats.reporters.html.report_page import alerts, files_section
from harpia_formats.reporters.html.scores_page import (
    method_lines,
    number,
    scores_sections,
)
from harpia_formats.reporters.html.tables import charts, sentence, sentences, table
from harpia_formats.reporters.text import p_text, with_noun
from harpia_formats.scoring.compare_runs import ComparisonReport
from harpia_formats.scoring.compare_stored import StoredReport
from harpia_formats.scoring.compared import ComparedScore

_COLUMNS = (
    "metric",
    "A",
    "B",
    "A - B",
    "low",
    "high",
    "p",
    "p (Holm)",
    "questions",
    "left out A",
    "left out B",
    "remark",
)
_NUMBERS = _COLUMNS[1:11]
#: Differences above the page.
_CARDS = 8


def page(found: ComparisonReport | StoredReport) -> Page:
    """Return the page of a comparison."""
    questions = max((score.questions for score in found.compared), default=0)
    cards = [("questions in both", f"{questions:,}")]
    cards += [
        (f"{_name(score)}, A - B", number(score.comparison.difference, "+"))
        for score in found.compared[:_CARDS]
        if score.comparison
    ]
    if found.only_first or found.only_second:
        cards.append(("only in A", f"{found.only_first:,}"))
        cards.append(("only in B", f"{found.only_second:,}"))
    reports = (
        found.reports
        if isinstance(found, StoredReport)
        else (found.first.report, found.second.report)
    )
    sections = [_differences(found.compared, found.said)]
    if not isinstance(found, StoredReport):
        sections += scores_sections(found.first, "All answers of A", "first")
        sections += scores_sections(found.second, "All answers of B", "second")
    sections.append(files_section(reports[0], "Files of A", "files-a"))
    sections.append(files_section(reports[1], "Files of B", "files-b"))
    return Page(
        "comparison of scores",
        f"{with_noun(len(found.compared), 'score')} of two systems compared",
        found.ok,
        cards=cards,
        alerts=alerts(*reports),
        sections=sections,
    )


def _differences(compared: Sequence[ComparedScore], said: Sequence[str]) -> Section:
    if not compared:
        return section(
            "differences", "Differences", [sentence("Nothing was compared.")]
        )
    tests = (
        (_name(score), score.comparison.test) for score in compared if score.comparison
    )
    methods = (
        (_name(score), score.comparison.method)
        for score in compared
        if score.comparison
    )
    remarks = [score.comparison.remark for score in compared if score.comparison]
    parts = [
        sentence("A is the first input, B the second one."),
        *charts(_charts(compared)),
        table(
            "Differences",
            _COLUMNS,
            map(_cells, compared),
            _NUMBERS,
            optional=_COLUMNS[8:],
        ),
        sentences(
            [
                *(f"Signature: {one.signature}" for one in compared if one.signature),
                *method_lines(tests, "Tests"),
                *method_lines(methods),
                *remarks,
                *said,
            ]
        ),
    ]
    return section("differences", "Differences", [part for part in parts if part])


def _name(score: ComparedScore) -> str:
    if score.metric == score.name:
        return score.name
    return f"{score.metric}.{score.name}"


def _charts(compared: Sequence[ComparedScore]) -> list[str]:
    """Return a chart of the differences of shares, and one of all others."""
    scales: dict[bool, list[Interval]] = {}
    for score in compared:
        found = score.comparison
        if found is None:
            row = Interval(_name(score), None, remark=score.reason)
            is_small = True
        else:
            covers = found.low <= 0 <= found.high
            row = Interval(
                _name(score),
                found.difference,
                found.low,
                found.high,
                found.remark,
                is_hollow=covers,
            )
            # On one axis with percentages, shares could not be told apart.
            is_small = max(abs(score.first or 0), abs(score.second or 0)) <= 1
        scales.setdefault(is_small, []).append(row)
    return [
        intervals(
            f"plot-differences-{at}",
            "Differences A - B with their intervals",
            rows,
            zero=True,
            meaning="Hollow dots have an interval that includes 0.",
        )
        for at, rows in enumerate(scales.values())
    ]


def _cells(score: ComparedScore) -> tuple[str, ...]:
    found = score.comparison
    if found is None:
        middle = ("", "", "", "", "")
    else:
        adjusted = score.adjusted_p
        middle = (
            number(found.difference, "+"),
            number(found.low, "+"),
            number(found.high, "+"),
            p_text(found.p_value, is_least=found.is_least),
            "" if adjusted is None else p_text(adjusted, is_least=found.is_least),
        )
    return (
        _name(score),
        number(score.first),
        number(score.second),
        *middle,
        f"{score.questions:,}",
        f"{score.unscored[0]:,}",
        f"{score.unscored[1]:,}",
        score.reason or (found.remark if found else ""),
    )
