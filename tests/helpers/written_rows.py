"""Rows as the writer of a format makes them, and what it reports of each field."""

from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Record


def row_and_losses(
    adapter: FormatAdapter, record: Record
) -> tuple[Row, dict[str, str]]:
    """Return the row that a record becomes, and how each lost path is changed."""
    outcomes = FieldOutcomes()
    row = adapter.writer(record, outcomes)
    return row, {each.path: each.how for each in outcomes.entries}
