"""The expectations of a preflight in an HTML report: broken ones first."""

from collections.abc import Sequence

from markupsafe import Markup

from harpia_formats.model.check import Check, State
from harpia_formats.reporters.html.environment import macro
from harpia_formats.reporters.html.page import Section, section
from harpia_formats.reporters.html.tables import code, table
from harpia_formats.reporters.text import position

_COLUMNS = ("state", "data set", "expected", "found", "stated in")
_order = {State.BROKEN: 0, State.UNDECIDED: 1, State.WARNED: 2, State.MET: 3}
#: The classes of the style for each state.
_looks = {
    State.BROKEN: "error",
    State.UNDECIDED: "warning",
    State.WARNED: "warning",
    State.MET: "good",
}


def checks_sections(checks: Sequence[Check]) -> list[Section]:
    """Return the table of expectations, nothing if there are none."""
    if not checks:
        return []
    ordered = sorted(checks, key=lambda check: _order[check.state])
    parts = [table("Expectations", _COLUMNS, map(_cells, ordered))]
    return [section("expectations", "Expectations", parts)]


def checks_verdict(checks: Sequence[Check]) -> str:
    """Return how many expectations are met in one line."""
    met = sum(check.state is State.MET for check in checks)
    return f"{met:,} of {len(checks):,} expectations are met"


def _cells(check: Check) -> tuple[str | Markup, ...]:
    look = _looks[check.state]
    return (
        macro("tables.html", "badge")(look, check.state.value),
        code(check.data_set),
        check.expected,
        check.found,
        code(position(check.path, check.line, 1)) if check.path else "",
    )
