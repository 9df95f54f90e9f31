"""Pages of results with very many parts: below 1 MB, and they say what is left out."""

import pytest

from harpia_formats import Excerpt, FileCount, Group, Place, Problem, Report, Severity
from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.conversion.comparison.differences import Difference
from harpia_formats.conversion.losses.conversion_report import (
    ConversionReport,
    FileLosses,
    OutcomeCounts,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group as ScoreGroup
from harpia_formats.evaluation.scoring.measures.metric_score import (
    MetricScore,
    ScoreDistribution,
)
from harpia_formats.evaluation.scoring.results.compare_report import (
    ComparedScore,
    ComparedSystem,
    ComparisonReport,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.paired_differences import Comparison
from harpia_formats.plugins import FieldOutcome, Outcome, Result
from generated_reports import page_of
from strict_page import StrictPage

COUNT = 800
#: What takes the most bytes: each character is an escape or an entity.
LONG = '"\U000e0001<' * 150


def _report() -> Report:
    place = Place(LONG, 1, 1, 2, 0, 1, LONG, f"/0{LONG}", "", "")
    problem = Problem(
        "S101", LONG, Severity.ERROR, place, LONG, excerpt=Excerpt(LONG, 0, 99)
    )
    return Report(
        tuple(FileCount(f"{at}{LONG}", errors=1) for at in range(COUNT)),
        tuple(
            Group(LONG, "S101", "n", Severity.ERROR, f"/{at}{LONG}", 1, 1, 1, 1)
            for at in range(COUNT)
        ),
        (problem,) * COUNT,
    )


def _conversion() -> ConversionReport:
    losses = OutcomeCounts()
    for at in range(COUNT):
        outcome = FieldOutcome(Outcome.CHANGED, f"{at}{LONG}", LONG)
        losses.add((outcome.path,), (outcome,), lambda: None)
    names = tuple(f"{at}{LONG}" for at in range(COUNT))
    return ConversionReport(
        _report(),
        "nemo-output",
        names,
        1,
        0,
        (FileLosses("a", None, losses.up_to_date()),),
        written=True,
        notes=names,
    )


def _scores() -> Scores:
    spread = ScoreDistribution()
    names = [f"m{at}" for at in range(12)]
    scores = tuple(
        MetricScore(
            *(name, LONG, 0.5, LONG, "0-1", True, 1, 0, (0.25, 0.75), spread, LONG)
        )
        for name in names
    )
    groups = tuple(ScoreGroup({"c": f"{at}{LONG}"}, 1, 1, scores) for at in range(60))
    every = ScoreGroup({}, 1, 1, scores)
    return Scores(
        "default",
        (every,),
        _report(),
        is_broken=False,
        groups=groups,
        notes=tuple(names),
    )


def _comparison() -> ComparisonReport:
    found = Comparison(0.25, 0.125, 0.375, 0.01, test=LONG, method=LONG, remark=LONG)
    compared = tuple(
        ComparedScore(*(f"{at}{LONG}", LONG, (LONG, "b"), 0.5, 0.25, found, LONG, 9))
        for at in range(COUNT)
    )
    scores = (_scores(), _scores())
    systems = tuple(
        ComparedSystem(name, name, None, ScoreGroup({}, 0, 0, ()))
        for name in (LONG, "b")
    )
    reports = tuple(one.report for one in scores)
    return ComparisonReport(compared, systems, (), reports, scores, notes=(LONG,))


def _differences() -> DifferenceReport:
    fields = {
        str(at): FieldDifferences(f"{at}{LONG}", 1, Difference("a", LONG, LONG))
        for at in range(COUNT)
    }
    report = _report()
    reports = (report, report)
    return DifferenceReport(1, 1, fields=fields, report=report, reports=reports)


@pytest.mark.parametrize(
    "make", [_report, _conversion, _scores, _comparison, _differences]
)
def test_a_page_of_any_result_is_below_one_megabyte(make: type[Result]) -> None:
    """However many parts there are and whatever their texts."""
    written = page_of(make(), command=LONG * 9)
    page = StrictPage(written)
    assert not page.faults
    assert len(written.encode()) < 1_000_000
    assert "no room for" in page.text
