"""The adapter of the format record, whose keys are the fields of a record."""

import msgspec

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


def _read(row: Row) -> Record:
    return record_of({key: value for key, value in row.items() if key != "header"})


def _write(record: Record, fates: FieldFates) -> Row:  # noqa: ARG001 - nothing is lost
    return as_dict(record)


def _read_header(document: Row) -> Header:
    return msgspec.convert(document, Header)


def _write_header(header: Header, fates: FieldFates) -> Row:  # noqa: ARG001 - nothing is lost
    return as_dict(header)


RECORD = FormatAdapter(
    vendor="record",
    fields=tuple(FieldMapping(tuple(path.split(".")), path) for path in FIELD_TYPES),
    read=_read,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    other_paths=frozenset({"extra", "outputs.extra", "outputs.scores"}),
)
