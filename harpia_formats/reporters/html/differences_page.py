"""The page of a comparison of data sets: which fields differ in how many records."""

from typing import Any

from markupsafe import Markup
from msgspec import UNSET

from harpia_formats.comparison.differences import Difference
from harpia_formats.comparison.report import DifferenceReport, FieldDifferences
from harpia_formats.model.exact_json import encode
from harpia_formats.plots import Bar, bars
from harpia_formats.reporters.html.examples import place_markup
from harpia_formats.reporters.html.page import Page, section
from harpia_formats.reporters.html.report_page import (
    alerts,
    files_section,
    findings_section,
)
from harpia_formats.reporters.html.tables import charts, code, sentence, table
from harpia_formats.text.describe import HiddenValue
from harpia_formats.text.sanitize import safe

_COLUMNS = ("field", "records", "first: left", "first: right", "where")
#: Code points of a value.
_VALUE = 600


def page(found: DifferenceReport) -> Page:
    """Return the page of `diff` or `roundtrip`."""
    cards = [
        ("compared", f"{found.records:,}"),
        ("differ", f"{found.differing:,}"),
        ("only left", f"{found.only_left:,}"),
        ("only right", f"{found.only_right:,}"),
    ]
    more = {"repeated ids": found.repeated, "left out": found.skipped}
    more["headers that differ"] = found.headers
    cards += [(name, f"{count:,}") for name, count in more.items() if count]
    sections = [section("differences", "Differences", _parts(found))]
    if found.report is not None:
        sections.append(findings_section(found.report))
        sections.append(files_section(found.report))
    return Page(
        "differences",
        safe(found.headline(), 500),
        found.ok,
        cards=cards,
        alerts=[] if found.report is None else alerts(found.report),
        sections=sections,
    )


def _parts(found: DifferenceReport) -> list[Markup]:
    lines = sorted(found.fields.values(), key=lambda line: -line.count)
    if not lines:
        return [sentence("No field differs.")]
    rows = [Bar(line.path, line.count) for line in lines]
    title = "Records in which a field differs"
    chart = bars("plot-fields", title, rows, noun="records", most=12)
    return [
        *charts([chart]),
        table("Fields that differ", _COLUMNS, map(_cells, lines), ("records",)),
    ]


def _cells(line: FieldDifferences) -> tuple[str | Markup, ...]:
    example = line.example
    left, right = (line.reason, "") if example is None else _values(example)
    return (
        code(line.path.strip()),
        f"{line.count:,}",
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
