"""Fail a test whose data is not valid, with the first findings and their places."""

from collections.abc import Iterable
from typing import Any

import harpia_formats
from harpia_formats.api.arguments import Input
from harpia_formats.model.problem import HarpiaFormatsError, Problem, Severity
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.concise import line_of
from harpia_formats.reporters.phrases import PATH

#: Findings that a message lists.
LISTED = 20


def assert_valid(
    data: Input,
    format_: str | None = None,
    /,
    *,
    error_on_warning: bool = False,
    **options: Any,
) -> Report:
    """Validate `data` as `format_`, and return the report.

    The format is detected if it is None. The options are those of
    `harpia_formats.validate`. Raises `AssertionError` with the first findings, each
    with its place, if there is an error, or a warning if `error_on_warning`, and what
    `harpia_formats.validate` raises.
    """
    __tracebackhide__ = True
    if format_ is not None:
        options["format"] = format_
    try:
        report = harpia_formats.validate(data, **options)
    except HarpiaFormatsError as error:
        # Its text says what the test has to mend, and no frame of ours says more.
        raise error.with_traceback(None) from None
    if is_failed(report, error_on_warning=error_on_warning):
        text = findings_text(report, report.problems, error_on_warning=error_on_warning)
        raise AssertionError(text)
    return report


def is_failed(report: Report, *, error_on_warning: bool) -> bool:
    """Tell whether a report has an error, or a warning where warnings count."""
    return not report.ok or (error_on_warning and report.warnings > 0)


def findings_text(
    report: Report, problems: Iterable[Problem], *, error_on_warning: bool
) -> str:
    """Return what fails in a report: a line for each of `problems`, then the counts.

    Each line starts with path, line and column. Warnings count if `error_on_warning`.
    """
    counted = (
        {Severity.ERROR, Severity.WARNING} if error_on_warning else {Severity.ERROR}
    )
    found = [one for one in problems if one.severity in counted][:LISTED]
    total = report.errors + (report.warnings if error_on_warning else 0)
    lines = [safe(f"{file.path}: {file.reason}", PATH) for file in report.failures]
    lines += map(line_of, found)
    if total > len(found):
        lines.append(f"and {total - len(found):,} more")
    lines += (safe(line, PATH) for line in report.no_verdict_lines())
    return "\n".join([*lines, report.headline()])
