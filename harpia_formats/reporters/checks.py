"""The check list of a preflight: each expectation with what was found."""

from collections.abc import Sequence
from itertools import groupby

from harpia_formats.model.check import Check, State
from harpia_formats.model.report import Report
from harpia_formats.model.text.sanitize import safe

_LABELS = {
    State.MET: "ok",
    State.BROKEN: "FAIL",
    State.WARNED: "warn",
    State.UNDECIDED: "--",
}
#: What is said of an expectation that is not decided.
UNDECIDED = "not decided, as not all records were read"
#: The most code points of a line.
_LINE = 500


def check_lines(report: Report) -> list[str]:
    """Return a line for each check below the name of its data set, then the verdict.

    There are none without checks.
    """
    if not report.checks:
        return []
    lines = []
    for name, checks in groupby(report.checks, key=lambda check: check.data_set):
        lines.append(f"{safe(name)}:")
        lines += map(_line, checks)
    return [*lines, verdict(report)]


def _line(check: Check) -> str:
    line = f"  {_LABELS[check.state]:<4}  {safe(check.expected, _LINE)}"
    if check.state is State.UNDECIDED:
        return f"{line}: {undecided_because(check)}"
    line += f": {safe(check.found, _LINE)}"
    if check.state is State.MET:
        return line
    return f"{line} ({safe(check.path, _LINE)}:{check.line})"


def undecided_because(check: Check) -> str:
    """Return why an expectation is not decided."""
    if check.reason:
        return safe(f"not decided, as {check.reason}", _LINE)
    return UNDECIDED


def verdict(report: Report) -> str:
    """Return whether all expectations are met, in one line."""
    number = len(report.checks)
    count = (
        "the only expectation is" if number == 1 else f"all {number} expectations are"
    )
    warned = _count(report.checks, State.WARNED)
    if report.ok and warned:
        return (
            f"ok: {number - warned} of {number} expectations are met, and {warned} "
            f"{_are(warned)} not, with a warning"
        )
    if report.ok:
        return f"ok: {count} met"
    broken = _count(report.checks, State.BROKEN)
    undecided = _count(report.checks, State.UNDECIDED)
    text = f"not ok: {broken} of {number} expectations {_are(broken)} not met"
    if warned:
        text += f", {warned} {_are(warned)} not, with a warning"
    if undecided:
        text += f", {undecided} {_are(undecided)} not decided"
    return text


def _count(checks: Sequence[Check], state: State) -> int:
    return sum(check.state is state for check in checks)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
