"""The codes of the problems in a report."""

from harpia_formats import Report


def codes_of(report: Report) -> list[str]:
    """Return the code of each problem, in the order of the report."""
    return [each.code for each in report.problems]
