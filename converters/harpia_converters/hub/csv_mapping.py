"""The adapter of the format csv: columns of a table to fields of a record.

Codecs convert the text of a cell to the value of a field and back. Tables that pandas
wrote are recognised by their cells: `True`, `NaN`, whole numbers as floats, an index.
"""

import re
from itertools import filterfalse
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.compiled_fields import Read
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.files.parsing.locate import repeats_key
from harpia_formats.model.adapter import (
    DECLINED,
    NOTHING_FOR_NULL,
    Cardinality,
    ChangedValue,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    ValueCodec,
    as_is,
)
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import FIELD_TYPES, Record

#: The values of common cells, which are looked up instead of decoded.
_common = {text: decode(text) for text in "true false 0 1 0.0 1.0".split()}
_short = 1 + max(map(len, _common))
_no_json = (msgspec.MsgspecError, ValueError, RecursionError)
_containers = frozenset({dict, list})
#: The types of values that are all objects, and all text.
_objects, _all_text = frozenset({dict}), frozenset({str})


def as_json(text: str) -> Any:
    """Return the decoded value of JSON `text`, `DECLINED` if it is not JSON.

    JSON with a repeated key is declined too: it could not be written back.
    """
    if len(text) < _short:
        value = _common.get(text, DECLINED)
        if value is not DECLINED:
            return value
    try:
        value = decode(text)
    except _no_json:
        return DECLINED
    if type(value) in _containers and repeats_key(text, value):
        return DECLINED
    return value


def as_objects(text: str) -> Any:
    """Return the decoded object of objects, `DECLINED` if `text` is no such JSON."""
    value = as_json(text)
    if type(value) is dict and _objects.issuperset(map(type, value.values())):
        return value
    return DECLINED


def json_of(value: Any) -> str:
    """Return `value` as compact JSON."""
    return encode(value).decode()


def _plain_or_digits(given: int | str) -> Any:
    if isinstance(given, int):
        return ChangedValue(json_of(given), "an integer as text")
    return given


def _texts(text: str) -> Any:
    if text.lstrip()[:1] != "[":
        return [text]
    try:
        value = decode(text)
    except _no_json:
        return [text]
    return value if _all_text.issuperset(map(type, value)) else [text]


TEXT = ValueCodec(as_is, as_is, "")
ID = ValueCodec(as_is, _plain_or_digits, "an integer becomes text", unchanged=_all_text)
LIST = ValueCodec(_texts, json_of, "a list as JSON; other text is a list of one")
JSON = ValueCodec(as_json, json_of, "as JSON")
OBJECTS = ValueCodec(as_objects, json_of, "as JSON")


_TRUTH = {"True": "true", "False": "false"}
#: What pandas writes for a missing value.
_MISSING = frozenset({"NaN", "nan"})
#: The cells that pandas writes in its own way in any row.
_SPECIAL = _MISSING | _TRUTH.keys()
_whole_float = re.compile(r"(-?\d+)\.0")
_number = re.compile(r"\d+(\.0)?")
#: The name that pandas gives to a column without one, such as that of its index.
_unnamed = re.compile(r"(Unnamed: \d+)?")


class PandasCells:
    """Reads cells as pandas writes them, for the columns of some fields."""

    def __init__(self, fields: tuple[FieldMapping, ...]) -> None:
        self._is_known = frozenset(field.name for field in fields).__contains__
        types = {
            field.name: FIELD_TYPES[field.record_path]
            for field in fields
            if field.record_path in FIELD_TYPES
        }
        #: The columns that hold no text, or only as JSON.
        self._values = frozenset(
            name for name, known in types.items() if not {str, list} & {*known}
        )
        self._truths = frozenset(name for name, known in types.items() if bool in known)
        self._whole = frozenset(
            name for name, known in types.items() if known == (int,)
        )

    def read(self, row: Row) -> Row:
        """Return `row` with the cells that any other program would have written.

        It is `row` itself if it has these.
        """
        if not self._may_differ(row):
            return row
        found: Row = {}
        for name, cell in row.items():
            if name in self._values:
                if cell in _MISSING:
                    continue
                if name in self._truths:
                    found[name] = _TRUTH.get(cell, cell)
                    continue
                if name in self._whole and (whole := _whole_float.fullmatch(cell)):
                    found[name] = whole[1]
                    continue
            elif _unnamed.fullmatch(name) and _number.fullmatch(cell):
                continue
            found[name] = cell
        return found

    def _may_differ(self, row: Row) -> bool:
        """Tell whether pandas may have written a cell of `row` in its own way."""
        get = row.get
        if not _SPECIAL.isdisjoint(map(get, self._values)):
            return True
        for name in self._whole:
            if (get(name) or "").endswith(".0"):
                return True
        # The filter is exhausted mostly, without a call.
        return any(map(_unnamed.fullmatch, filterfalse(self._is_known, row)))

    def changes(self, name: str, cell: str) -> bool:
        """Tell whether `cell` in the column `name` is read as another one, or none."""
        row = {name: cell}
        return self.read(row) != row


_vendor = "csv"
#: The column of a record's extra, except texts that have a column of their own.
_extra = "extra"
_only_extra = {_extra}


def _fields(owner: str, **codecs: ValueCodec) -> tuple[FieldMapping, ...]:
    """Return a mapping for each column that has the name of a field of `owner`."""
    return tuple(
        FieldMapping((name,), f"{owner}{name}", codec) for name, codec in codecs.items()
    )


_record_fields = _fields(
    "",
    id=ID,
    prompt=TEXT,
    system=TEXT,
    messages=JSON,
    references=LIST,
    gt=TEXT,
    choices=LIST,
    contexts=LIST,
    category=TEXT,
    source=TEXT,
    params=JSON,
    metadata=JSON,
)
_output_fields = (
    *_fields("outputs.", model=TEXT, index=JSON, formatted_prompt=TEXT),
    FieldMapping(("response",), "outputs.text", NOTHING_FOR_NULL),
    *_fields("outputs.", reasoning=NOTHING_FOR_NULL, turns=JSON),
    *_fields("outputs.", interaction_type=TEXT, attribution=JSON),
    *_fields("outputs.scores.", metric=TEXT),
    FieldMapping(("score",), "outputs.scores.value", JSON),
    *_fields("outputs.scores.", is_correct=JSON, evaluation_id=TEXT),
    *_fields("outputs.scores.", evaluation_name=TEXT, result_id=TEXT, signature=TEXT),
    *_fields("outputs.", token_usage=JSON, performance=JSON, error=NOTHING_FOR_NULL),
    FieldMapping(("output_extra",), "outputs.extra", OBJECTS),
)
_table = FieldTable(_vendor, (*_record_fields, *_output_fields))
_all = (
    *_table.fields,
    FieldMapping(
        (_extra,), _extra, OBJECTS, note="text under an unknown key has its own column"
    ),
)
#: Columns that are remembered; those of one row may be more.
_most_columns = 256
_output_columns = frozenset(mapping.name for mapping in _output_fields)
_known = frozenset(mapping.name for mapping in _all)
_pandas = PandasCells(_all)


class _ColumnReader:
    """Reads rows, and asks them only for the columns that some row before them had.

    Most tables have a few of all columns that there may be.
    """

    def __init__(self) -> None:
        #: The columns so far, and what reads rows without others: replaced at once.
        self._known: tuple[frozenset[str], Read | None] = (frozenset(), None)

    def __call__(self, row: Row) -> Record:
        """Return the record of a row."""
        columns, read = self._known
        if read is None or not row.keys() <= columns:
            read = self._learned(row, columns, read)
        return read(row)

    def _learned(self, row: Row, columns: frozenset[str], read: Read | None) -> Read:
        """Return what reads a row with other columns than those so far."""
        before = columns if len(columns) + len(row) <= _most_columns else frozenset()
        found = before | row.keys()
        if read is None or found & _known != columns & _known:
            read = _table.read_of(found)
        self._known = found, read
        return read


_read_columns = _ColumnReader()


def _read(row: Row) -> Record:
    record = _read_columns(row)
    if record.extra is UNSET:
        return record
    own = record.extra[_vendor]
    if own.keys() != _only_extra or own[_extra] in _MISSING:
        # Cells that pandas writes in its own way are those that no field can hold.
        record = _table.read(_pandas.read(row))
        own = {} if record.extra is UNSET else record.extra[_vendor]
    if _extra not in own:
        return record
    # The table does not know the column, and made the object for this record.
    cell = own.pop(_extra)
    given = as_objects(cell)
    if given is DECLINED or given.get(_vendor, {}).keys() & own.keys():
        return replace(record, extra={_vendor: {**own, _extra: cell}})
    if own:
        given = {**given, _vendor: {**given.get(_vendor, {}), **own}}
    return replace(record, extra=given)


def _write(record: Record, outcomes: FieldOutcomes) -> Row:
    extra = record.extra
    if extra is UNSET:
        row = _table.write(record, outcomes)
    else:
        row = _table.write(replace(record, extra=UNSET), outcomes)
    if record.outputs and _output_columns.isdisjoint(row):
        outcomes.dropped("outputs", "without any field")
    if extra is not UNSET:
        _put_back(extra, row)
    if not row:
        reason = "the record has nothing for any column"
        raise Unconvertible("prompt", reason, "give it with `--set prompt=VALUE`")
    return row


def _put_back(extra: dict[str, Row], row: Row) -> None:
    """Put texts of unknown columns into columns, and the rest into `extra`."""
    if _vendor not in extra:
        row[_extra] = json_of(extra)
        return
    own = extra[_vendor]
    columns = {key: value for key, value in own.items() if _is_column(key, value, row)}
    packed, rest = without(extra, {_vendor}), without(own, columns)
    if rest or not own:
        packed[_vendor] = rest
    if packed == {_vendor: {_extra: rest.get(_extra)}} and _is_strange(rest[_extra]):
        row[_extra] = rest[_extra]
    elif packed:
        row[_extra] = json_of(packed)
    row.update(columns)


def _is_column(key: str, value: Any, row: Row) -> bool:
    """Tell whether `value` can be a cell of the column `key` and be read back."""
    if type(value) is not str or key in row or key == _extra:
        return False
    # A byte order mark at the start of a file would be removed from the column.
    if key.startswith("\ufeff"):
        return False
    if _pandas.changes(key, value):
        return False
    return key not in _known or _table.read({key: value}).extra is not UNSET


def _is_strange(value: Any) -> bool:
    """Tell whether `value` is text in the column `extra` that is not read as extra."""
    return type(value) is str and as_objects(value) is DECLINED


TABLE = FormatAdapter(
    vendor=_vendor,
    fields=_all,
    read=_read,
    write=_write,
    capacity=RowCapacity(
        Cardinality.MANY, Cardinality.ONE, Cardinality.ONE, messages=True, turns=True
    ),
    blank_is_absent=True,
    # Without a model column a table of answers is detected as one of references.
    implied_columns={"response": "model"},
    columns=tuple(mapping.name for mapping in _all),
)
