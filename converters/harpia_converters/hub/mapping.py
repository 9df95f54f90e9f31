"""The adapters of record, judge-verdicts, json and parquet."""

from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.conversion.mapping.fields import (
    FieldTable,
    any_columns,
    record_row,
    without_nulls,
)
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Parts,
    Row,
    RowCapacity,
    Together,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import (
    FIELD_TYPES,
    Header,
    Record,
    Score,
    as_dict,
    fits,
    record_of,
)


def _read_record(row: Row) -> Record:
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
    read=_read_record,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    other_paths=frozenset({"extra", "outputs.extra", "outputs.scores"}),
)


def _read_id(record_id: Any, number: Any) -> Parts:
    """Return the id of a verdict's record, or its number where it has no id."""
    left = {} if number is UNSET else {"record": number}
    if fits("id", record_id):
        return Parts({"id": record_id}, left=left)
    if record_id is not UNSET:
        left["record_id"] = record_id
    return Parts({"id": number}, left=left)


def _read_result(result: Any, signature: Any) -> Parts:
    """Return a score for each number in the result of a judge, with its signature."""
    if type(result) is not dict or not result:
        left = {} if result is UNSET else {"result": result}
        return Parts(output={"scores": UNSET}, left=left)
    signed = signature if isinstance(signature, str) else UNSET
    scores: list[Score] = []
    rest: Row = {}
    for key in result:
        if fits("outputs.scores.value", result[key]):
            scores.append(Score(metric=key, value=result[key], signature=signed))
        else:
            rest[key] = result[key]
    left = {"result": dict(sorted(rest.items()))} if rest else {}
    return Parts(output={"scores": scores or UNSET}, left=left)


def _of_columns(row: Row) -> Row:
    """Return a row of the dialect columns as a line."""
    meta = row.get("meta")
    return {**(meta if isinstance(meta, dict) else {}), "result": row.get("results")}


VERDICTS = FieldTable(
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
    together=(
        Together(("record_id", "record"), _read_id),
        Together(("result", "signature"), _read_result),
    ),
).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.ONE, scores=Cardinality.MANY
    ),
    dialect_normalizers={"columns": _of_columns},
    other_paths=frozenset({"outputs.scores.signature"}),
)


_json = "json"
JSON = any_columns(_json, prepare=without_nulls).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.ONE, Cardinality.ONE, messages=True, turns=True
    ),
)


_parquet = "parquet"
_column_fields = any_columns(_parquet)


def _record_of_columns(row: Row) -> Row:
    """Return a row of any columns as a record; a null in a table says nothing."""
    return record_row(_column_fields, row)


def _read_table_record(row: Row) -> Record:
    return record_of({key: value for key, value in row.items() if key != "header"})


def _read_table_header(document: Row) -> Header:
    """Return the header in a record; a column of that name may hold something else."""
    try:
        return msgspec.convert(document, Header)
    except msgspec.ValidationError:
        return Header()


_parquet_columns = FormatAdapter(
    vendor=_parquet, fields=_column_fields.fields, read=_column_fields.read
)

PARQUET = FormatAdapter(
    vendor=_parquet,
    fields=tuple(FieldMapping(tuple(path.split(".")), path) for path in FIELD_TYPES),
    read=_read_table_record,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.MANY, Cardinality.MANY, messages=True, turns=True
    ),
    read_header=_read_table_header,
    write_header=_write_header,
    header_fields=("metrics", "task", "evaluation", "extra"),
    dialect_normalizers={"columns": _record_of_columns},
    other_paths=frozenset({"extra", "outputs.extra", "outputs.scores"}),
    named_by_dialect={"columns": _parquet_columns},
)
