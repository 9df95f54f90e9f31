"""The page of a comparison of scores: both scores, differences and tests."""

from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compared_scores import ComparedScore, alpha_of
from harpia_formats.evaluation.scoring.score_charts import difference_charts
from harpia_formats.model.describe import p_text, with_noun
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    charts,
    section,
    sentence,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import alerts, files_section
from harpia_formats.reporters.html.scores_page import (
    method_lines,
    number,
    scores_sections,
)
from harpia_formats.reporters.score_tables.published import (
    MAY_DISAGREE,
    detected_text,
    needed_text,
)

_COLUMNS = (
    "metric",
    "A",
    "B",
    "A - B",
    "low",
    "high",
    "p",
    "p (Holm)",
    "detected",
    "questions",
    "needed",
    "left out A",
    "left out B",
    "remark",
)
#: Differences above the page.
_CARDS = 8


def page(found: ComparisonReport) -> Page:
    """Return the page of a comparison."""
    names = _Names(found)
    questions = max((score.questions for score in found.compared), default=0)
    word = "both" if found.is_of_two else "a pair"
    cards = [(f"questions in {word}", f"{questions:,}")]
    cards += [
        (names.of(score, "A - B"), number(score.comparison.difference, "+"))
        for score in found.compared[:_CARDS]
        if score.comparison
    ]
    if found.is_of_two:
        for pair in found.pairs:
            if pair.only_first or pair.only_second:
                cards.append(("only in A", f"{pair.only_first:,}"))
                cards.append(("only in B", f"{pair.only_second:,}"))
    sections = [_differences(found, names)]
    places = range(len(found.reports))
    for place, scores in enumerate(found.scores):
        title = f"All answers of {names.inputs[place]}"
        sections += scores_sections(scores, title, f"input-{place + 1}")
    for place, report in zip(places, found.reports, strict=True):
        title = f"Files of {names.inputs[place]}"
        sections.append(files_section(report, title, f"files-{place + 1}"))
    systems = "two systems" if found.is_of_two else f"{len(found.systems):,} systems"
    return Page(
        "comparison of scores",
        f"{with_noun(len(found.compared), 'score')} of {systems} compared",
        found.ok,
        cards=cards,
        alerts=alerts(*found.reports),
        sections=sections,
    )


class _Names:
    """What systems and inputs are called: A and B if they are two."""

    def __init__(self, found: ComparisonReport) -> None:
        self.is_of_two = found.is_of_two
        count = len(found.reports)
        self.inputs = [f"input {place + 1}" for place in range(count)]
        if found.is_of_two and count == 2:  # noqa: PLR2004 - A and B
            self.inputs = ["A", "B"]
        self.said = "A is the first input, B the second one."
        if found.is_of_two and count == 1 and found.systems:
            first, second = (system.name for system in found.systems)
            self.said = f"A is {first}, B is {second}."
        if not found.is_of_two:
            self.said = "p (Holm) is adjusted for all pairs and scores of the table."

    def of(self, score: ComparedScore, difference: str = "") -> str:
        """Return the name of a score, with its systems if they are several."""
        if self.is_of_two:
            return f"{score.full_name}, {difference}" if difference else score.full_name
        return self.chart_label(score, score.full_name)

    def chart_label(self, score: ComparedScore, name: str) -> str:
        """Return what a difference of a score with a name is called in charts."""
        return name if self.is_of_two else f"{name}, {' - '.join(score.systems)}"


def _differences(report: ComparisonReport, names: _Names) -> Section:
    compared = report.compared
    if not compared:
        return section(
            "differences", "Differences", [sentence("Nothing was compared.")]
        )
    tests = (
        (score.full_name, score.comparison.test)
        for score in compared
        if score.comparison
    )
    methods = (
        (score.full_name, score.comparison.method)
        for score in compared
        if score.comparison
    )
    remarks = [score.comparison.remark for score in compared if score.comparison]
    alpha = alpha_of(compared)
    columns: tuple[str, ...] = _COLUMNS
    if not report.is_of_two:
        columns = ("metric", "A", "B", "score A", "score B", *_COLUMNS[3:])
    texts = set() if report.is_of_two else {"A", "B"}
    parts = [
        sentence(names.said),
        *charts(
            difference_charts(
                report.compared, report.arrows, "differences", names.chart_label
            )
        ),
        table(
            "Differences",
            columns,
            (_cells(score, is_of_two=report.is_of_two) for score in compared),
            [name for name in columns[1:-1] if name not in texts],
            optional=columns[-5:],
        ),
        sentences(
            [
                *(f"Signature: {one.signature}" for one in compared if one.signature),
                *method_lines(tests, "Tests"),
                *method_lines(methods),
                MAY_DISAGREE if report.has_other_intervals else "",
                "" if alpha is None else detected_text("none", alpha),
                needed_text(report.detect) if alpha and report.detect else "",
                *remarks,
                *report.said,
            ]
        ),
    ]
    return section("differences", "Differences", [part for part in parts if part])


def _cells(score: ComparedScore, *, is_of_two: bool) -> tuple[str, ...]:
    found = score.comparison
    if found is None:
        middle = ("", "", "", "", "", "")
    else:
        adjusted = score.adjusted_p
        middle = (
            number(found.difference, "+"),
            number(found.low, "+"),
            number(found.high, "+"),
            p_text(found.p_value, is_least=found.is_least),
            "" if adjusted is None else p_text(adjusted, is_least=found.is_least),
            number(found.detectable),
        )
    return (
        score.full_name,
        *(() if is_of_two else score.systems),
        number(score.first),
        number(score.second),
        *middle,
        f"{score.questions:,}",
        "" if score.questions_needed is None else f"{score.questions_needed:,}",
        f"{score.unscored[0]:,}",
        f"{score.unscored[1]:,}",
        score.reason or (found.remark if found else ""),
    )
