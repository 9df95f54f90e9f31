"""How many findings of one row are reported, and which rows may have more."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.validation.diagnosis.finding import Finding

#: The rules on rows with more schema errors, and more other findings, than these.
MORE_ERRORS, MORE_FINDINGS = "S106", "S107"
#: Findings of one kind of check on one row that are reported at most.
FINDINGS = 1_000
#: Values of a row that is validated as a whole: it cannot have very many errors.
VALUES = 5_000


def is_wide(row: Any) -> bool:
    """Return whether a row has so many values that it may have very many errors."""
    return values_in(row) > VALUES


def values_in(value: Any) -> int:
    """Return how many values are inside of a value, in all levels."""
    found, inner = 0, [value]
    while inner:
        members = inner.pop()
        if isinstance(members, dict):
            members = members.values()
        elif not isinstance(members, list):
            continue
        found += len(members)
        inner += [one for one in members if isinstance(one, (dict, list))]
    return found


def at_most(findings: "Iterator[Finding]", what: str) -> "Iterator[Finding]":
    """Yield findings on one row, at most `FINDINGS`, then one that there are more.

    `what` they are is said there.
    """
    last = None
    for last in islice(findings, FINDINGS):
        yield last
    if last is not None and next(findings, None) is not None:
        yield more_findings(MORE_FINDINGS, last.row, what)


def more_findings(code: str, row: int, what: str, value: Any = None) -> "Finding":
    """Return the finding that more is wrong with a row than is reported."""
    from harpia_formats.model.format import Remark  # noqa: PLC0415 - imported only where a row has a problem
    from harpia_formats.validation.diagnosis.finding import Finding  # noqa: PLC0415 - imported only where a row has a problem

    message = f"the record has more {what} than the {FINDINGS:,} that are looked for"
    help_ = "correct the others, and validate it again"
    return Finding(code, row, Remark(code, (), message, help_), value)
