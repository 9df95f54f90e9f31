"""The adapter of the format haystack: rows, with an item of each column, to records."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.extra_fields import EXTRAS_KEY
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    NOTHING_FOR_NULL,
    ChangedValue,
    FieldMapping,
    FormatAdapter,
    Row,
    ValueCodec,
)
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Header, Record, kept_of

_vendor = "haystack"
#: The two names of the column of answers; the first is written for records of others.
_predicted, _responses = "predicted_answers", "responses"
#: The member of an output's extra that says that it stood in the second column.
_column = "column"


def _first(texts: list[str]) -> Any:
    return (
        LIST_OF_ONE.write(texts)
        if texts
        else ChangedValue(UNSET, "left out for no text")
    )


_question_fields = (
    FieldMapping(("query_id",), "id"),
    FieldMapping(("questions",), "prompt"),
    FieldMapping(("contexts",), "contexts"),
    FieldMapping(
        ("ground_truth_answers",),
        "references",
        ValueCodec(LIST_OF_ONE.read, _first, LIST_OF_ONE.description),
    ),
)


def _answered(column: str, note: str) -> FieldMapping:
    return FieldMapping((column,), "outputs.text", NOTHING_FOR_NULL, note=note)


_predicted_field = _answered(_predicted, "unless `responses` is text as well")
_responses_field = _answered(_responses, "if the file had it there")
_predicted_table = FieldTable(_vendor, (*_question_fields, _predicted_field))
_responses_table = FieldTable(_vendor, (*_question_fields, _responses_field))
_fields = (*_question_fields, _predicted_field, _responses_field)
#: Columns in which null only means that other rows have an item there.
_known = frozenset({EXTRAS_KEY, *(mapping.name for mapping in _fields)})


def _read(row: Row) -> Record:
    there = row
    if None in row.values():
        there = {
            key: value
            for key, value in row.items()
            if value is not None or key not in _known
        }
    if not there:
        # It has only nulls, which are kept.
        nulls = {key: None for key in sorted(row) if key != EXTRAS_KEY}
        return Record(extra={_vendor: nulls}) if nulls else Record()
    if type(there.get(_responses)) is not str:
        return _predicted_table.read(there)
    record = _responses_table.read(there)
    named = {_vendor: {_column: _responses}}
    return replace(record, outputs=[replace(record.outputs[0], extra=named)])


def _write(record: Record, outcomes: FieldOutcomes) -> Row:
    answer = record.outputs[0] if record.outputs else None
    named = {} if answer is None else kept_of(answer, _vendor)
    table = _responses_table if named.get(_column) == _responses else _predicted_table
    bare = record if record.extra is UNSET else replace(record, extra=UNSET)
    row = table.write(bare, outcomes)
    if answer is not None and answer.text is UNSET:
        outcomes.dropped("outputs", "without a text")
    for key in named:
        if key != _column or _responses not in row:
            outcomes.dropped(f"outputs.extra.{_vendor}.{key}")
    _put_back(kept_of(record, _vendor), row, outcomes)
    if not row:
        reason = "the record has nothing for any column"
        raise Unconvertible("prompt", reason, "give it with `--set questions=VALUE`")
    return row


def _put_back(kept: Row, row: Row, outcomes: FieldOutcomes) -> None:
    """Put kept members into `row`, except those that would be read as a field."""
    nulls = [key for key, item in kept.items() if item is None and key in _known]
    for key, value in kept.items():
        if key in nulls:
            continue
        if key not in row and _stays(key, value, row):
            row[key] = value
        else:
            outcomes.dropped(
                f"extra.{_vendor}.{key}", "the field of that name is taken"
            )
    if row:
        for key in nulls:
            outcomes.dropped(f"extra.{_vendor}.{key}", "null next to other columns")
    else:
        row.update(dict.fromkeys(nulls))


def _stays(key: str, value: Any, row: Row) -> bool:
    """Tell whether `value` at `key` is not read as a field."""
    has_first = type(row.get(_responses)) is str
    if key not in _known or (key == _predicted and has_first):
        return True
    return kept_of(_read({key: value}), _vendor).get(key, UNSET) is value


def _read_header(document: Row) -> Header:
    """Return the header: the name of the component that the columns belong to."""
    return Header(extra={_vendor: document} if document else UNSET)


def _write_header(header: Header, outcomes: FieldOutcomes) -> Row:
    component = kept_of(header, _vendor).get("component")
    is_named = type(component) is str
    for vendor, kept in ({} if header.extra is UNSET else header.extra).items():
        for key in kept:
            if (vendor, key) != (_vendor, "component") or not is_named:
                outcomes.dropped(f"header.extra.{vendor}.{key}")
    return {"component": component} if is_named else {}


COLUMNS = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_read,
    write=_write,
    extras_path=(),
    read_header=_read_header,
    write_header=_write_header,
    header_fields=(f"extra.{_vendor}",),
    other_paths=frozenset({f"outputs.extra.{_vendor}"}),
    answer_extra_examples={_column: _responses},
    other_names={
        f"outputs.extra.{_vendor}.{_column}": f"{_responses} (the name of the column)"
    },
)
