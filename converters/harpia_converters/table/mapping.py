"""The adapter of the format csv: columns of a table to fields of a record."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.table.cell_codecs import (
    ID,
    JSON,
    LIST,
    MAYBE,
    OBJECTS,
    TEXT,
    as_objects,
    json_of,
)
from harpia_converters.table.pandas_cells import PandasCells, is_missing
from harpia_formats.conversion.mapping.compiled_table import Read
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    DECLINED,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    ValueCodec,
)
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import Record

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
    FieldMapping(("response",), "outputs.text", MAYBE),
    *_fields("outputs.", reasoning=MAYBE, turns=JSON),
    *_fields("outputs.", interaction_type=TEXT, attribution=JSON),
    *_fields("outputs.scores.", metric=TEXT),
    FieldMapping(("score",), "outputs.scores.value", JSON),
    *_fields("outputs.scores.", is_correct=JSON, evaluation_id=TEXT),
    *_fields("outputs.scores.", evaluation_name=TEXT, result_id=TEXT, signature=TEXT),
    *_fields("outputs.", token_usage=JSON, performance=JSON, error=MAYBE),
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
    if own.keys() != _only_extra or is_missing(own[_extra]):
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


def _write(record: Record, fates: FieldFates) -> Row:
    extra = record.extra
    if extra is UNSET:
        row = _table.write(record, fates)
    else:
        row = _table.write(replace(record, extra=UNSET), fates)
    if record.outputs and _output_columns.isdisjoint(row):
        fates.dropped("outputs", "without any field")
    if extra is not UNSET:
        _put_back(extra, row)
    if not row:
        reason = "the record has nothing for any column"
        raise Unconvertible("prompt", reason, "give it with --set prompt=VALUE")
    return row


def _put_back(extra: dict[str, Row], row: Row) -> None:
    """Put texts of unknown columns into columns, and the rest into `extra`."""
    if _vendor not in extra:
        row[_extra] = json_of(extra)
        return
    own = extra[_vendor]
    columns = {key: value for key, value in own.items() if _is_column(key, value, row)}
    packed = {vendor: members for vendor, members in extra.items() if vendor != _vendor}
    rest = {key: value for key, value in own.items() if key not in columns}
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
