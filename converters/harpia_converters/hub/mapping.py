"""The adapters of record, judge-verdicts, json and parquet."""

from dataclasses import replace

import msgspec
from msgspec import UNSET, structs

from harpia_formats.conversion.mapping.compiled_fields import compiled_as_dict
from harpia_formats.conversion.mapping.fields import FieldTable, any_columns
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import FIELD_TYPES, Header, Record, as_dict, record_of


def _write(record: Record, outcomes: FieldOutcomes) -> Row:  # noqa: ARG001 - nothing is lost
    return compiled_as_dict()(record)


def _read_header(document: Row) -> Header:
    return msgspec.convert(document, Header)


def _write_header(header: Header, outcomes: FieldOutcomes) -> Row:  # noqa: ARG001 - nothing is lost
    return as_dict(header)


RECORD = FormatAdapter(
    vendor="record",
    fields=tuple(FieldMapping(tuple(path.split(".")), path) for path in FIELD_TYPES),
    read=record_of,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    other_paths=frozenset({"extra", "outputs.extra", "outputs.scores"}),
)


def _read_number(row: Row, kept: Row) -> Row:  # noqa: ARG001 - the signature of `read_own`
    """Return the number of a record as its id, unless the row has that."""
    return {"id": row.get("record", UNSET)}


_table = FieldTable(
    "judge",
    (
        FieldMapping(
            ("record_id",), "id", note="the number of the record where it has no id"
        ),
        FieldMapping(("model",), "outputs.model"),
        FieldMapping(("index",), "outputs.index"),
        FieldMapping(("error",), "outputs.error"),
        FieldMapping(
            ("result", "*"),
            "outputs.scores.value",
            key_record_path="outputs.scores.metric",
            note="numbers, true and false",
        ),
    ),
    own_keys=("record",),
    read_own=_read_number,
    removes_own=True,
)


def _read_verdict(row: Row) -> Record:
    """Return the record of a verdict, with a score for each number in its result."""
    record = _table.read(row)
    scores = record.outputs[0].scores if record.outputs else UNSET
    # The table made the object for this record.
    kept = record.extra["judge"] if record.extra else {}
    if not scores or type(kept.get("signature")) is not str:
        return record
    signature = kept.pop("signature")
    signed = [structs.replace(score, signature=signature) for score in scores]
    outputs = [structs.replace(record.outputs[0], scores=signed)]
    return structs.replace(record, outputs=outputs)


def _of_columns(row: Row) -> Row:
    """Return a row of the dialect columns as a line."""
    meta = row.get("meta")
    return {**(meta if isinstance(meta, dict) else {}), "result": row.get("results")}


VERDICTS = FormatAdapter(
    vendor="judge",
    fields=_table.fields,
    read=_read_verdict,
    capacity=RowCapacity(references=Cardinality.NONE, scores=Cardinality.MANY),
    dialect_normalizers={"columns": _of_columns},
    other_paths=frozenset({"outputs.scores.signature"}),
)


JSON = any_columns("json").adapter(
    is_read_only=True,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.ONE, Cardinality.ONE, messages=True, turns=True
    ),
)


_parquet = "parquet"
_column_fields = any_columns(_parquet)


def _record_of_columns(row: Row) -> Row:
    """Return a row of any columns as a record; a null in a table says nothing."""
    return as_dict(_column_fields.read(row))


def _read_table_header(document: Row) -> Header:
    """Return the header in a record; a column of that name may hold something else."""
    try:
        return msgspec.convert(document, Header)
    except msgspec.ValidationError:
        return Header()


PARQUET = replace(
    RECORD,
    vendor=_parquet,
    read_header=_read_table_header,
    dialect_normalizers={"columns": _record_of_columns},
    named_by_dialect={"columns": _column_fields.adapter(is_read_only=True)},
)
