"""The page of a comparison of data sets: which fields differ in how many records."""

from typing import Any

from markupsafe import Markup
from msgspec import UNSET

from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.conversion.comparison.differences import Difference
from harpia_formats.model.describe import HiddenValue
from harpia_formats.model.exact_json import encode
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.html.examples import place_markup
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    bar_cell,
    code,
    section,
    sentence,
    table,
)
from harpia_formats.reporters.html.report_page import (
    alerts,
    files_section,
    findings_section,
)
from harpia_formats.reporters.tables.table import table_of

#: Code points of a value.
_VALUE = 600


def page(found: DifferenceReport) -> Page:
    """Return the page of `diff` or `roundtrip`."""
    first, second = _names(found)
    cards = [
        ("compared", f"{found.records:,}"),
        ("differ", f"{found.differing:,}"),
        (f"only {first}", f"{found.only_left:,}"),
        (f"only {second}", f"{found.only_right:,}"),
    ]
    more = {"repeated ids": found.repeated, "left out": found.skipped}
    more["headers that differ"] = found.headers
    cards += [(name, f"{count:,}") for name, count in more.items() if count]
    sections = [section("differences", "Differences", _parts(found))]
    if found.report is not None:
        sections.append(findings_section(found.report))
        sections += _files(found, found.report)
    reports = found.reports or ((found.report,) if found.report is not None else ())
    return Page(
        "differences",
        safe(found.headline(), 500),
        found.ok,
        cards=cards,
        alerts=alerts(*reports),
        sections=sections,
    )


def _names(found: DifferenceReport) -> tuple[str, str]:
    """Return how both sides are called: two inputs, or one around a round trip."""
    return ("in A", "in B") if found.reports else ("before", "after")


def _files(found: DifferenceReport, report: Report) -> list[Section]:
    """Return the files of each input."""
    if not found.reports:
        return [files_section(report)]
    return [
        files_section(one, title=f"Files of {name.upper()}", name=f"files-{name}")
        for name, one in zip("ab", found.reports, strict=True)
    ]


def _parts(found: DifferenceReport) -> list[Markup]:
    lines = sorted(found.fields.values(), key=lambda line: -line.count)
    if not lines:
        is_compared = found.is_read or found.records
        return [
            sentence("No field differs." if is_compared else "Nothing is compared.")
        ]
    most = lines[0].count
    columns = ["field", "records", *(f"first: {name}" for name in _names(found))]
    columns.append("where")
    rows = [_cells(line, most) for line in lines]
    return [
        *([sentence("A is the first input, B the second one.")] * bool(found.reports)),
        table(table_of("Fields that differ", columns, rows, ("records",))),
    ]


def _cells(line: FieldDifferences, most: int) -> tuple[str | Markup, ...]:
    """Return the row of a field; `most` records differ in one field."""
    example = line.example
    left, right = (line.reason, "") if example is None else _values(example)
    return (
        code(line.path.strip()),
        bar_cell(line.count, most),
        left,
        right,
        place_markup(line.place),
    )


def _values(example: Difference) -> tuple[str | Markup, str | Markup]:
    return _value(example.left), _value(example.right)


def _value(value: Any) -> str | Markup:
    if isinstance(value, HiddenValue):
        return value.words
    return "nothing" if value is UNSET else code(encode(value).decode(), _VALUE)
