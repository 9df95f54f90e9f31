"""Read rows of any columns as records: a column named like a field is that field."""

from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_fields import COLUMN_FIELDS
from harpia_formats.model.record import as_dict


def any_columns(vendor: str) -> FieldTable:
    """Return the fields of rows of any columns; others are extra of `vendor`."""
    return FieldTable(vendor, COLUMN_FIELDS)


def without_nulls(row: Row) -> Row:
    """Return a row without its nulls, which say nothing in a table."""
    return {key: value for key, value in row.items() if value is not None}


def record_row(table: FieldTable, row: Row) -> Row:
    """Return a row of any columns as the row of a record, by `any_columns`."""
    return as_dict(table.read(without_nulls(row)))
