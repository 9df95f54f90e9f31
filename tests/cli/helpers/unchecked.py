"""Functions of `harpia_formats` that return the result so far instead of raising.

They are for tests of what a failed run reports.
"""

import io
from collections.abc import Callable
from typing import Any

import harpia_formats
from harpia_formats import ValidationFailed
from harpia_formats.conversion.comparison.comparison_report import DifferenceReport
from harpia_formats.conversion.losses.conversion_report import ConversionReport
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring


def _result(run: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    try:
        return run(*inputs, **options)
    except ValidationFailed as error:
        return error.result


def convert(*inputs: Any, **options: Any) -> ConversionReport:
    """Return the report of a conversion, also of one that wrote nothing."""
    report: ConversionReport = _result(harpia_formats.convert, *inputs, **options)
    return report


def converted(*inputs: Any, to: str, **options: Any) -> tuple[bytes, ConversionReport]:
    """Return the bytes that a conversion writes, and its report."""
    output = io.BytesIO()
    report = convert(*inputs, to=to, output=output, **options)
    return output.getvalue(), report


def diff(left: Any, right: Any, **options: Any) -> DifferenceReport:
    """Return the differences of two data sets, also if not all could be read."""
    report: DifferenceReport = _result(harpia_formats.diff, left, right, **options)
    return report


def roundtrip(*inputs: Any, **options: Any) -> DifferenceReport:
    """Return the differences after a round trip, also if not all could be read."""
    report: DifferenceReport = _result(harpia_formats.roundtrip, *inputs, **options)
    return report


def score(*inputs: Any, to: Any = None, output: Any = None, **options: Any) -> Scores:
    """Return the scores as the command line has them, whatever they stand for."""
    given: dict[str, Any] = {"missing": "skip", "jobs": 1} | options
    run = Scoring(inputs, to, output, ScoreOptions(**given))
    for _ in run:
        continue
    return run.scores()
