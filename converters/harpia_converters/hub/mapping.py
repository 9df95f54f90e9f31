"""The adapter of the format record, whose keys are the fields of a record."""

import msgspec
from msgspec import UNSET

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
    Output,
    Record,
    Score,
    as_dict,
)


def _read(row: Row) -> Record:
    # No `msgspec.convert`: the schema validated the types, and 3.0 must not become 3.
    known = {key: value for key, value in row.items() if key != "header"}
    known["outputs"] = [_output(output) for output in row["outputs"]]
    return Record(**known)


def _output(given: Row) -> Output:
    scores = given.get("scores", UNSET)
    if scores is not UNSET:
        scores = [Score(**score) for score in scores]
    return Output(**{**given, "scores": scores})


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
