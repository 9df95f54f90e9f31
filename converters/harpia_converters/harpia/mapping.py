"""The adapter of the format harpia: a header and instances to records and back."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.harpia.header_checks import ANSWER, METRICS, REFERENCES, key_in
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    EMPTY_FOR_NULL,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    ValueCodec,
    as_is,
)
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Header, Output, Record, kept_of

#: The key of its own members in `extra`.
KEY = "harpia"
_metrics = METRICS[0]
#: The array of instances, which is no part of a header.
_instances = "instances"


def read_header(document: Row) -> Header:
    """Return the header of an input, given as `document` without its instances."""
    name = next(_names_of_metrics(document), None)
    rest = {key: value for key, value in document.items() if key != name}
    return Header(
        metrics=UNSET if name is None else document[name],
        extra={KEY: rest} if rest else UNSET,
    )


def _names_of_metrics(document: Row) -> Iterator[str]:
    """Yield each key of `document` that holds metrics, the documented one first."""
    for wanted in METRICS:
        for key, value in document.items():
            if key.casefold() == wanted and _are_metrics(value):
                yield key


def _are_metrics(value: Any) -> bool:
    return type(value) is list and all(map(_is_metric, value))


def _is_metric(item: Any) -> bool:
    """Tell whether `item` is a metric that the schema allows."""
    return (
        type(item) is dict
        and type(item.get("id")) is str
        and all(_is_switch(item.get(key, True)) for key in ("enable", "enabled"))
        and type(item.get("parameters", {})) in {dict, list}
    )


def _is_switch(value: Any) -> bool:
    """Tell whether `value` is a boolean, or the text of one."""
    return type(value) is bool or value in ("true", "false")


def write_header(header: Header, outcomes: FieldOutcomes) -> Row:
    """Return the members of an input without its instances; losses go to `outcomes`."""
    row: Row = {}
    if header.metrics is not UNSET:
        row[_metrics] = [metric for metric in header.metrics if _is_metric(metric)]
        if len(row[_metrics]) < len(header.metrics):
            outcomes.changed("header.metrics", "without those that have no `id`")
    for vendor, kept in ({} if header.extra is UNSET else header.extra).items():
        if vendor == KEY:
            _put_back_in_header(kept, row, outcomes)
        else:
            outcomes.dropped(f"header.extra.{vendor}")
    return row


def _put_back_in_header(kept: Row, row: Row, outcomes: FieldOutcomes) -> None:
    """Put kept members into `row`, except those that would be read as another field."""
    for key, value in kept.items():
        is_list_of_metrics = key.casefold() in METRICS and _are_metrics(value)
        is_read = is_list_of_metrics and _metrics not in row
        if key in row or key == _instances or is_read:
            outcomes.dropped(f"header.extra.{KEY}.{key}", "the key is taken")
        else:
            row[key] = value


_answer, _references = ANSWER[0], REFERENCES[0]
_spellings = (ANSWER, REFERENCES)
#: Every spelling of the keys that are read as fields.
_known = frozenset({"id", "input", *ANSWER, *REFERENCES})
#: The member of an output's extra that says that its text stood alone in a list.
_in_a_list = "in_a_list"


def _listed(value: Any) -> Any:
    return [value] if type(value) is str else value


_table = FieldTable(
    KEY,
    (
        FieldMapping(("id",), "id", required=True),
        FieldMapping(("input",), "prompt", required=True),
        FieldMapping(
            (_references,),
            "references",
            ValueCodec(_listed, as_is, "one text is a list of one"),
        ),
        FieldMapping(
            (_answer,),
            "outputs.text",
            EMPTY_FOR_NULL,
            required=True,
            note="a list for several",
        ),
    ),
)


def _read(row: Row) -> Record:
    row = _respelt(row)
    answers = row.get(_answer)
    if not answers or not _are_texts(answers):
        return _table.read(row)
    record = _table.read({key: value for key, value in row.items() if key != _answer})
    if len(answers) == 1:
        alone = {KEY: {_in_a_list: True}}
        return replace(record, outputs=[Output(text=answers[0], extra=alone)])
    outputs = [Output(index=place, text=answer) for place, answer in enumerate(answers)]
    return replace(record, outputs=outputs)


def _respelt(row: Row) -> Row:
    """Return `row` with the documented spelling of the first key of each field."""
    names = {key: keys[0] for keys in _spellings if (key := key_in(row, keys))}
    if all(key == name for key, name in names.items()):
        return row
    return {names.get(key, key): value for key, value in row.items()}


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _write(record: Record, outcomes: FieldOutcomes) -> Row:
    if len(record.outputs) == 1 and not kept_of(record, KEY):
        (answer,) = record.outputs
        has_place = answer.index is UNSET and not kept_of(answer, KEY)
        if has_place and answer.text is not UNSET:
            # Nothing but fields is written.
            return _table.write(record, outcomes)
    return write_any(record, outcomes)


def write_any(record: Record, outcomes: FieldOutcomes) -> Row:
    """Return the row for any record: the specification of `_write`."""
    kept = dict(kept_of(record, KEY))
    given = record.id
    if given is UNSET and is_whole(kept.get("id")):
        given = kept.pop("id")
    answers = _answers(record, outcomes)
    bare = replace(record, id=given, extra=UNSET, outputs=answers[:1])
    row = _table.write(bare, outcomes)
    if len(answers) > 1:
        row[_answer] = _texts(answers, outcomes)
    elif answers and kept_of(answers[0], KEY).get(_in_a_list) is True:
        row[_answer] = [row[_answer]]
    _note_kept(answers, row, outcomes)
    _put_back_in_row(kept, row, outcomes)
    return row


def is_whole(value: Any) -> bool:
    """Tell whether `value` is a float that the schema takes for an integer, as 1.0."""
    return isinstance(value, float) and value.is_integer()


def _answers(record: Record, outcomes: FieldOutcomes) -> list[Output]:
    """Return the outputs that have a text; record the outcomes of their indices."""
    answers = [output for output in record.outputs if output.text is not UNSET]
    if len(answers) < len(record.outputs):
        outcomes.dropped("outputs", "without a text")
    for place, answer in enumerate(answers):
        if len(answers) == 1:
            if answer.index is not UNSET:
                outcomes.dropped("outputs.index", "one answer has no place in a list")
        elif answer.index is UNSET:
            outcomes.defaulted("outputs.index", "the place in the list")
        elif answer.index != place:
            outcomes.changed("outputs.index", "the place in the list")
    return answers


def _note_kept(answers: list[Output], row: Row, outcomes: FieldOutcomes) -> None:
    """Record as dropped the extra members of outputs that are not written."""
    is_alone = len(answers) == 1 and type(row[_answer]) is list
    for answer in answers:
        for key in kept_of(answer, KEY):
            if not is_alone or key != _in_a_list:
                outcomes.dropped(f"outputs.extra.{KEY}.{key}")


def _texts(answers: list[Output], outcomes: FieldOutcomes) -> list[str]:
    if any(answer.text is None for answer in answers):
        outcomes.changed("outputs.text", "empty text for null")
    return [answer.text or "" for answer in answers]


def _put_back_in_row(kept: Row, row: Row, outcomes: FieldOutcomes) -> None:
    """Put kept members into `row`, except those that would be read as a field."""
    for key, value in kept.items():
        if key not in _known or _is_second_spelling(key, value, row):
            row[key] = value
        else:
            outcomes.dropped(f"extra.{KEY}.{key}", "the field of that name is taken")


def _is_second_spelling(key: str, value: Any, row: Row) -> bool:
    """Tell whether `key`, another spelling of a field, may stand next to the first."""
    for keys in _spellings:
        if key in keys[1:]:
            is_valid = type(value) is str or _are_texts(value)
            return keys[0] in row and is_valid and (keys is REFERENCES or bool(value))
    return False


LAB_INPUT = FormatAdapter(
    vendor=KEY,
    fields=_table.fields,
    read=_read,
    write=_write,
    capacity=RowCapacity(
        references=Cardinality.MANY, outputs=Cardinality.MANY_OF_ONE_MODEL
    ),
    read_header=read_header,
    write_header=write_header,
    header_fields=("metrics", f"extra.{KEY}"),
    other_paths=frozenset({"outputs.index", f"outputs.extra.{KEY}"}),
    answer_extra_examples={_in_a_list: True},
    other_names={
        "outputs.index": f"{_answer} (the place in the list)",
        f"outputs.extra.{KEY}.{_in_a_list}": f"{_answer} (one text in a list)",
    },
)
