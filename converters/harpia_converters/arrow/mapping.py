"""The adapter of the format parquet: records, and rows of any columns as records."""

import msgspec

from harpia_formats.conversion.mapping.any_columns import any_columns, record_row
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import (
    FIELD_TYPES,
    Header,
    Record,
    as_dict,
    record_of,
)

_vendor = "parquet"
_table = any_columns(_vendor)


def _of_columns(row: Row) -> Row:
    """Return a row of any columns as a record; a null in a table says nothing."""
    return record_row(_table, row)


def _read(row: Row) -> Record:
    return record_of({key: value for key, value in row.items() if key != "header"})


def _write(record: Record, fates: FieldFates) -> Row:  # noqa: ARG001 - nothing is lost
    return as_dict(record)


def _read_header(document: Row) -> Header:
    """Return the header in a record; a column of that name may hold something else."""
    try:
        return msgspec.convert(document, Header)
    except msgspec.ValidationError:
        return Header()


def _write_header(header: Header, fates: FieldFates) -> Row:  # noqa: ARG001 - nothing is lost
    return as_dict(header)


_any_columns = FormatAdapter(vendor=_vendor, fields=_table.fields, read=_table.read)

ROWS = FormatAdapter(
    vendor=_vendor,
    fields=tuple(FieldMapping(tuple(path.split(".")), path) for path in FIELD_TYPES),
    read=_read,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    dialect_normalizers={"columns": _of_columns},
    other_paths=frozenset({"extra", "outputs.extra", "outputs.scores"}),
    named_by_dialect={"columns": _any_columns},
)
