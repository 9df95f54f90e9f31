"""Read fields of a record from keys of its row that the format has no place for."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from harpia_formats.formats.detection.mapped_format import require_mappable_keys
from harpia_formats.formats.registry import adapter_of, format_of
from harpia_formats.model.adapter import Row
from harpia_formats.model.column_map import (
    MapError,
    MapOptionsError,
    MissingColumnError,
    column_names,
    hint_on_column,
    names_by_column,
)
from harpia_formats.model.exact_json import NOT_JSON, decode, encode
from harpia_formats.model.format import Format
from harpia_formats.model.record import Output, Record, as_dict
from harpia_formats.model.value_path import (
    NoSuchItemError,
    ValuePath,
    names_in,
    parse_value_path,
    value_at,
)
from harpia_formats.validation.unit.mapped_values import expected_of, is_mapped_value

#: The format whose columns hold the same fields, one in each.
_table = "csv"
#: Keys of rows that are kept to suggest one of them for a misspelt key.
_many = 1_000
#: The key in `extra` of the values of a record that mapped ones replace.
REPLACED = "map"
_output_prefix = "outputs."
_Part = TypeVar("_Part", Record, Output)


def keys_of_map(columns: Mapping[str, str], formats: Sequence[Format]) -> "MappedKeys":
    """Return the mapped keys of rows in one of `formats`, a format or a family.

    Raises `ConversionError` if its records are not JSON rows, and `MapError` for a map
    that cannot be used.
    """
    for format_ in formats:
        require_mappable_keys(format_)
    return MappedKeys(columns, formats)


class MappedKeys:
    """The keys of rows that hold fields of records, by the names of the fields.

    Raises `MapError` for a field that no column holds, and for a key that the format
    reads itself.
    """

    def __init__(self, columns: Mapping[str, str], formats: Sequence[Format]) -> None:
        self._adapter = adapter_of(format_of(_table))
        #: The name of the column of each key.
        names = column_names(self._adapter, _table, columns)
        self._names = names_by_column(names)
        #: The path in records of each mapped field, and its path in rows.
        self.record_paths = {
            mapping.record_path: names[mapping.name]
            for mapping in self._adapter.fields
            if mapping.name in names
        }
        paths = sorted(self.record_paths)
        self._of_record = [path for path in paths if "." not in path]
        self._of_output = sorted(
            {path.split(".")[1] for path in paths if path.startswith(_output_prefix)}
        )
        self._paths = [parse_value_path(text) for text in self._names]
        self._parts = {part.text for path in self._paths for part in path.parts()}
        self._is_nested = any(path.is_nested for path in self._paths)
        #: Whether the rows are of any columns, which may be named like fields.
        self._is_free = all(format_.general for format_ in formats)
        #: The keys in `extra` of what the formats have no fields for.
        self._vendors = {adapter_of(format_).vendor for format_ in formats}
        own: set[str] = set()
        for format_ in formats:
            keys = {field.path[0] for field in adapter_of(format_).fields}
            own |= keys
            for key in () if self._is_free else keys & self._names.keys():
                raise MapOptionsError(key, f"{format_.id} reads this key already")
        own |= {path.keys[0] for path in self._paths if path.selector is not None}
        #: The paths of members inside of values that nothing else reads.
        self._inner = [
            path for path in self._paths if path.is_nested and path.keys[0] not in own
        ]
        #: The parts of mapped paths that rows had, and the first names of other keys.
        self._found: set[str] = set()
        self._seen: set[str] = set()

    def split(self, row: Row, number: int, path: str) -> tuple[Row, Row]:
        """Return `row` without the mapped keys, and the cells that these stand for.

        What a path of several keys reaches stays in the row. Raises `MapError` for a
        label or an index without an item, in record `number` of the file at `path`.
        """
        self._note_keys(row)
        cells: Row = {}
        for value_path in self._paths:
            value = self._value(value_path, row, number, path)
            if value is not None and value is not UNSET:
                name = self._names[value_path.text]
                # A row with another value is not valid, unless that is ignored.
                if not is_mapped_value(name, value):
                    expected = expected_of(name)
                    reason = f"it is not {expected} in record {number} of {path}"
                    raise MapOptionsError(value_path.text, reason)
                is_cell = name == "id" or type(value) is str
                cells[name] = value if is_cell else encode(value).decode()
        rest = {key: value for key, value in row.items() if key not in self._names}
        if self._is_free:
            self._check_not_taken(rest)
        return rest, cells

    def _check_not_taken(self, rest: Row) -> None:
        """Raise `MapError` if a column that is not mapped is named as a mapped field.

        The value inside of which the field is found may have its name.
        """
        for path in self._paths:
            name = self._names[path.text]
            if rest.get(name) is not None and path.keys[0] != name:
                reason = "two columns would have this name; map the other one, too"
                raise MapError(name, reason)

    def note_refused(self, text: bytes) -> None:
        """Note the keys of a row that is not valid, if it is JSON."""
        if len(self._found) < len(self._parts):
            try:
                row = decode(text)
            except NOT_JSON:
                return
            if isinstance(row, dict):
                self._note_keys(row)

    def _note_keys(self, row: Row) -> None:
        """Note which of the mapped paths `row` has, and the names of its keys."""
        if len(self._found) == len(self._parts):
            return
        for value_path in self._paths:
            is_key = value_path.text in row
            for part in value_path.parts():
                sibling = (*value_path.keys[:-1], *part.keys)
                if is_key or any(
                    value_at(row, keys) is not UNSET for keys in (part.keys, sibling)
                ):
                    self._found.add(part.text)
        if len(self._seen) < _many:
            self._seen.update(names_in(row) if self._is_nested else row)

    def _value(self, value_path: ValuePath, row: Row, number: int, path: str) -> Any:
        """Return the value of a path in a row; raises `MapError`."""
        try:
            return value_path.find(row)
        except NoSuchItemError as error:
            reason = f"record {number} of {path}: {error}"
            raise MapError(value_path.text, reason) from error

    def with_fields(self, record: Record, cells: Row, row: Row) -> Record:
        """Return the record of `row` with the fields of the mapped keys, not its own.

        Own values that are others stay in its `extra`. A value inside of an object that
        is a field does not, but what a path finds in lists, next to labels, or in what
        the format reads itself does.
        """
        fields = _fields_of(self._adapter.read(cells))
        outputs = fields.pop("outputs", None)
        record = replace(record, extra=self._unused(record.extra, row))
        if record.outputs:
            given = _fields_of(outputs[0]) if outputs else {}
            bare = [
                replace(output, extra=self._unused(output.extra, row))
                for output in record.outputs
            ]
            outputs = [
                _with_own_in_extra(output, self._of_output, given) for output in bare
            ]
        record = replace(record, outputs=outputs or [])
        return _with_own_in_extra(record, self._of_record, fields)

    def _unused(self, extra: Any, row: Row) -> Any:
        """Return an `extra` without the values inside of objects that are fields."""
        if not extra:
            return extra
        for vendor, path in product(self._vendors, self._inner):
            kept = (vendor, *path.keys)
            is_own = path.text not in row
            if is_own and value_at(extra, kept) == value_at(row, path.keys):
                extra = _without_member(extra, kept)
        return extra or UNSET

    def check_seen(self, path: str, *, is_stopped: bool = False) -> None:
        """Raise `MapError` if no row of the file at `path` had one of the keys.

        `is_stopped` tells that it was not read to its end.
        """
        for key in sorted(self._parts):
            if key not in self._found:
                hint = hint_on_column(key, sorted(self._seen))
                what = "such a column, or only null" if self._is_free else "such a key"
                rows = f"no row of {path}{' up to here' if is_stopped else ''}"
                raise MissingColumnError(key, f"{rows} has {what}", hint)


def _without_member(owner: Row, keys: Sequence[str]) -> Row:
    """Return an object without the member at `keys`, and what that leaves empty.

    It is `owner` itself where a value on the way is no object.
    """
    key, *inner = keys
    value = owner.get(key, UNSET)
    if inner and isinstance(value, dict):
        left = _without_member(value, inner)
        if left is value or left:
            return owner if left is value else {**owner, key: left}
    elif inner or value is UNSET:
        return owner
    return {name: member for name, member in owner.items() if name != key}


def _fields_of(part: Any) -> dict[str, Any]:
    """Return the fields that a record or an output has."""
    values = {name: getattr(part, name) for name in part.__struct_fields__}
    return {name: value for name, value in values.items() if value is not UNSET}


def _with_own_in_extra(
    part: _Part, names: Sequence[str], given: dict[str, Any]
) -> _Part:
    """Return a record or an output with the given values of some of its fields.

    A field that is not given is absent. Own values that are others are in `extra`.
    """
    changes = dict.fromkeys(names, UNSET) | given
    replaced = {
        name: _plain(own)
        for name in names
        if (own := getattr(part, name)) is not UNSET and own != changes[name]
    }
    if replaced:
        extra = {} if part.extra is UNSET else part.extra
        changes["extra"] = {**extra, REPLACED: replaced}
    return replace(part, **changes)


def _plain(value: Any) -> Any:
    """Return a value of a field as JSON; scores are lists of objects."""
    if type(value) is not list:
        return value
    return [as_dict(item) if isinstance(item, Struct) else item for item in value]
