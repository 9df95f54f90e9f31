"""The adapter of the format parquet: records, and rows of any columns as records."""

from typing import Any

import msgspec

from harpia_formats.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    DECLINED,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    ValueCodec,
    as_is,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import (
    FIELD_TYPES,
    TEXT_LISTS,
    Header,
    Record,
    as_dict,
    record_of,
)

_vendor = "parquet"
#: The column of a field whose column does not have its name.
_columns = {"outputs.text": "response", "outputs.scores.value": "score"}
#: A column cannot hold the extra of two vendors under one name.
_no_columns = frozenset({"extra", "outputs.extra"})


def _texts(value: Any) -> Any:
    """Return a list of texts; one text is a list of one."""
    if type(value) is str:
        return [value]
    is_texts = type(value) is list and all(type(item) is str for item in value)
    return value if is_texts else DECLINED


_TEXTS = ValueCodec(_texts, as_is, "text is a list of one")
_table = FieldTable(
    _vendor,
    tuple(
        FieldMapping(
            (_columns.get(path, path.rpartition(".")[2]),),
            path,
            *((_TEXTS,) if path in TEXT_LISTS else ()),
        )
        for path in FIELD_TYPES
        if path not in _no_columns
    ),
)


def _of_columns(row: Row) -> Row:
    """Return a row of any columns as a record; a null in a table says nothing."""
    present = {key: value for key, value in row.items() if value is not None}
    return as_dict(_table.read(present))


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
)
