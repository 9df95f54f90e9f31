"""The adapter of the format json: rows of any keys as records."""

from harpia_formats.conversion.mapping.any_columns import any_columns, without_nulls
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row, RowCapacity
from harpia_formats.model.record import Record

_vendor = "json"
_table = any_columns(_vendor)


def _read(row: Row) -> Record:
    return _table.read(without_nulls(row))


ROWS = FormatAdapter(
    vendor=_vendor,
    fields=_table.fields,
    read=_read,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.ONE, Cardinality.ONE, messages=True, turns=True
    ),
)
