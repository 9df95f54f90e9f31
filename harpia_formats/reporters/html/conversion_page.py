"""The page of a conversion: what was written, what was lost, and findings."""

from markupsafe import Markup

from harpia_formats.conversion.losses.conversion_report import (
    LOSSES,
    ConversionReport,
    FieldLine,
    field_lines,
    words_for,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.html.examples import place_markup
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    bar_cell,
    code,
    section,
    sentence,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import (
    alerts,
    files_section,
    findings_section,
)
from harpia_formats.reporters.tables.table import Cell, table_of

_COLUMNS = (
    *("field", "records", "kept", "not kept", "lost or changed", "how"),
    "first record",
)
_NUMBERS = ("records", "kept", "not kept")
#: Code points of a name, and of the names of all fields that are kept.
_NAME, _NAMES = 200, 4_000
#: What became of a field: its look in the chart.
_LOST, _CHANGED = "error", "warning"


def page(found: ConversionReport) -> Page:
    """Return the page of a conversion."""
    records = sum(file.records for file in found.report.files)
    cards = [
        ("files", f"{len(found.report.files):,}"),
        ("records", f"{records:,}"),
        ("rows written", f"{found.rows if found.written else 0:,}"),
    ]
    cards += [("left out", f"{found.skipped:,}")] if found.skipped else []
    errors = found.report.errors
    cards += [("errors", f"{errors:,}")] if errors else []
    return Page(
        "conversion",
        safe(found.headline(), 500),
        found.ok,
        cards=cards,
        alerts=alerts(found.report),
        sections=[
            loss_section(found),
            findings_section(found.report),
            files_section(found.report, title="Files read"),
            _outputs(found),
        ],
    )


def loss_section(found: ConversionReport) -> Section:
    """Return the table of losses: a row for each field that is not kept as it is."""
    lines = field_lines(found.losses)
    changed = [line for line in lines if line.outcomes]
    kept = [line.name for line in lines if not line.outcomes]
    parts: list[Markup] = []
    if not (found.written or found.failed_by_loss):
        parts.append(sentence("Nothing was written, so nothing is lost."))
    elif not lines:
        parts.append(sentence("There is no field."))
    elif not changed:
        parts.append(sentence("Nothing is lost."))
    if changed:
        most = max(max(line.outcomes.values()) for line in changed)
        cells = [_cells(line, most) for line in changed]
        parts.append(table(table_of("Losses", _COLUMNS, cells, _NUMBERS, ("how",))))
    if kept:
        names = safe(", ".join(kept), _NAMES)
        parts.append(sentence(f"Kept as they are: {names}"))
    return section("losses", "Losses", parts)


def _is_lost(line: FieldLine) -> bool:
    return any(outcome in LOSSES for outcome in line.outcomes)


def _cells(line: FieldLine, most: int) -> tuple[Cell, ...]:
    """Return the row of a field; `most` records have the field that differs most."""
    return (
        code(line.name, _NAME),
        line.records,
        line.kept,
        bar_cell(
            max(line.outcomes.values()), most, _LOST if _is_lost(line) else _CHANGED
        ),
        ", ".join(words_for(line)),
        safe(line.how, _NAME),
        place_markup(line.place),
    )


def _outputs(found: ConversionReport) -> Section:
    """Return which files were written, and what should be known of them."""
    what = f"{with_noun(found.rows, 'row')} of {found.target}"
    parts = [sentence(what if found.written else found.nothing)]
    parts.append(sentences([*found.outputs, *found.quarantine]))
    if found.notes:
        parts.append(sentences(found.notes))
    return section("outputs", "Files written", parts)
