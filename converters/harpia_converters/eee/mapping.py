"""The adapters of EvalEval's samples: rows of three versions to records and back."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee import versions
from harpia_converters.eee.answers import (
    answers_in,
    fitting_answers,
    has_several,
    output_of,
)
from harpia_converters.eee.extra_fields import (
    HASH,
    TURNS,
    VENDOR,
    kept_of,
    put_back,
)
from harpia_converters.eee.fields import (
    answer_fields,
    other_fields,
    question_fields,
)
from harpia_converters.eee.result_names import (
    SIGNATURE,
    split_signature,
    telling_names,
    with_result,
    with_signature,
    with_signature_of,
)
from harpia_converters.eee.usage import written_metadata
from harpia_converters.eee.versions import Version, is_whole_float
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Output, Record

_root = (
    "schema_version evaluation_id model_id evaluation_name evaluation_result_id "
    "sample_id sample_hash interaction_type input output interactions messages "
    "answer_attribution evaluation token_usage performance error metadata"
).split()
_signature = "outputs.scores.signature"
_input = ("raw", "formatted", "reference", "choices")


def _read(row: Row, table: FieldTable, version: Version) -> Record:
    signature, row = split_signature(row.copy())
    record = _read_unsigned(row, table, version)
    return record if signature is None else with_signature(record, signature)


def _read_unsigned(row: Row, table: FieldTable, version: Version) -> Record:
    """Return the record of a row, which may be changed, without its signature."""
    if row.get("schema_version") == version.label:
        del row["schema_version"]
    if version.turns != TURNS and row.get(version.turns, UNSET) is None:
        del row[version.turns]
        row[TURNS] = None
    output: Any = row.get("output")
    if version.has_lists and has_several(output):
        del row["output"]
        return _with_answers(table.read(row), output)
    record = table.read(row)
    kept = kept_of(record.extra)
    if "output" in kept:
        # It is the last one; the table made the object for this record.
        kept["output"] = kept.pop("output")
    return record


def _kept_members(left: Row, version: Version) -> Row:
    """Return what `_read` keeps of the members of a row that are no fields."""
    if left.get("schema_version") == version.label:
        del left["schema_version"]
    if version.turns != TURNS and version.turns in left:
        del left[version.turns]
        left = dict(sorted({**left, TURNS: None}.items()))
    if "output" in left:
        left["output"] = left.pop("output")
    return left


def _with_answers(record: Record, output: Row) -> Record:
    """Return `record` with an output for each answer in `output`, its row's member."""
    answers, left = answers_in(output)
    first = record.outputs[0]
    outputs = [
        replace(first, **answers[0]),
        *(Output(model=first.model, **answer) for answer in answers[1:]),
    ]
    if left == {}:
        return replace(record, outputs=outputs)
    kept = {**kept_of(record.extra), "output": left}
    return replace(record, outputs=outputs, extra={VENDOR: kept})


def _write(
    record: Record,
    fates: FieldFates,
    table: FieldTable,
    version: Version,
    order: Sequence[str],
) -> Row:
    kept = kept_of(record.extra)
    if record.id is UNSET and kept:
        record, kept = _with_own_id(record, kept, version)
    outputs = with_result(fitting_answers(record.outputs, version, fates), fates)
    metadata = written_metadata(record.metadata, version, fates)
    metadata = with_signature_of(outputs, metadata, fates)
    if kept or outputs is not record.outputs or metadata is not record.metadata:
        record = replace(record, outputs=outputs, metadata=metadata, extra=UNSET)
    row = table.write(record, fates)
    if len(outputs) > 1:
        row["output"] = output_of(outputs)
    if not kept:
        del row[HASH]
        return row
    has_new = put_back(row, kept, version, fates)
    if "input" in kept:
        row["input"] = _ordered(row["input"], _input)
    return _ordered(row, order) if has_new else row


def _with_own_id(record: Record, kept: Row, version: Version) -> tuple[Record, Row]:
    """Return `record` with the id that was kept for it, and the rest of `kept`.

    An id such as 3.0 is valid in the open versions, but cannot be a record's id.
    """
    own = kept.get("sample_id")
    if version.is_closed or not is_whole_float(own):
        return record, kept
    rest = {key: value for key, value in kept.items() if key != "sample_id"}
    return replace(record, id=own, extra=UNSET), rest


def _ordered(row: Row, keys: Sequence[str]) -> Row:
    """Return `row` with `keys` in front, in their order."""
    ordered = {key: row[key] for key in keys if key in row}
    if len(ordered) < len(row):
        ordered |= row
    return ordered


def _order_of(version: Version) -> tuple[str, ...]:
    """Return the keys of a row in the order of the version's documentation."""
    turns = {versions.V0_2_0.turns, versions.V0_3_0.turns} - {version.turns}
    return tuple(key for key in _root if key not in turns)


def _sorted_by_key(
    fields: Sequence[FieldMapping], order: Sequence[str]
) -> tuple[FieldMapping, ...]:
    """Return `fields` in the `order` of their keys, those with other keys behind."""
    places = {key: place for place, key in enumerate(order)}
    return tuple(
        sorted(fields, key=lambda field: places.get(field.path[0], len(places)))
    )


def _placed(
    fields: Sequence[FieldMapping], version: Version
) -> dict[tuple[str, ...], Row]:
    """Return the members that rows have beside fields, by the field behind them."""
    keys = [field.path[0] for field in fields]
    behind_id = keys.index("sample_id") + 1
    return {
        fields[0].path: {"schema_version": version.label},
        # `_write` replaces or deletes it.
        fields[behind_id].path: {HASH: UNSET},
    }


def _adapter(version: Version, capacity: RowCapacity) -> FormatAdapter:
    fields = (
        *question_fields(version),
        *answer_fields(version),
        *other_fields(version),
    )
    order = _order_of(version)
    # The table writes the keys in their order, with a place for those that are kept.
    fields_in_order = _sorted_by_key(fields, order)
    table = FieldTable(
        VENDOR, fields_in_order, placed=_placed(fields_in_order, version)
    )
    return FormatAdapter(
        vendor=VENDOR,
        fields=fields,
        discriminators=frozenset(
            {
                ("interaction_type",),
                ("schema_version",),
                (version.turns, "*", "role"),
            }
        ),
        read=partial(_read, table=table, version=version),
        write=partial(_write, table=table, version=version, order=order),
        capacity=capacity,
        reads_by_fields=True,
        keep_members=partial(_kept_members, version=version),
        extras_path=("metadata",),
        extras_as_text=True,
        other_paths=frozenset(
            {_signature, "outputs.index"} if version.has_lists else {_signature}
        ),
        extra_examples={
            "schema_version": version.other_label,
            "sample_hash": "0" * 64,
            "evaluation": {"num_turns": 1, "tool_calls_count": 0},
            **({"output": {"reasoning_trace": ["more"]}} if version.has_lists else {}),
        },
        read_apart=(("metadata", SIGNATURE),),
        other_names={
            "outputs.index": "output.raw (the place in the list)",
            _signature: f"metadata.{SIGNATURE}",
        },
        repeats_answers=True,
    )


_lists = RowCapacity(
    references=Cardinality.MANY,
    outputs=Cardinality.MANY_OF_ONE_MODEL,
    scores=Cardinality.ONE,
    needs_verdict=True,
    score_name=telling_names,
    turns=True,
)
_one_answer = RowCapacity(
    scores=Cardinality.ONE, needs_verdict=True, score_name=telling_names, turns=True
)
V0_2_0 = _adapter(versions.V0_2_0, _one_answer)
V0_2_0_TAG = _adapter(versions.V0_2_0_TAG, _lists)
V0_3_0 = _adapter(versions.V0_3_0, _lists)
