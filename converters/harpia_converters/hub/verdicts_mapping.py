"""The adapter of the format judge-verdicts: the values of a verdict are scores."""

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Output, Record

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
)


def _read(row: Row) -> Record:
    """Return the record of a verdict, with a score for each number in its result."""
    signature = row.get("signature", UNSET)
    rest = {key: value for key, value in row.items() if key != "signature"}
    record = _table.read(rest)
    outputs = record.outputs or [Output()]
    if isinstance(signature, str):
        outputs = [_signed(output, signature) for output in outputs]
    number = row.get("record", UNSET)
    return replace(
        record,
        id=number if record.id is UNSET else record.id,
        outputs=outputs,
    )


def _signed(output: Output, signature: str) -> Output:
    """Return `output` with `signature` at each of its scores."""
    if not output.scores:
        return output
    scores = [replace(score, signature=signature) for score in output.scores]
    return replace(output, scores=scores)


def _of_columns(row: Row) -> Row:
    """Return a row of the dialect columns as a line."""
    meta = row.get("meta")
    return {**(meta if isinstance(meta, dict) else {}), "result": row.get("results")}


VERDICTS = FormatAdapter(
    vendor="judge",
    fields=_table.fields,
    read=_read,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.ONE, scores=Cardinality.MANY
    ),
    dialect_normalizers={"columns": _of_columns},
    other_paths=frozenset({"outputs.scores.signature"}),
)
