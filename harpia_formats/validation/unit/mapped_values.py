"""Check that rows of JSON have the values that a map of the user names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.column_map import CORRECT_MAP, record_path
from harpia_formats.model.describe import describe_value
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.problem import Path
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS, fits
from harpia_formats.model.value_path import (
    NoSuchItemError,
    ValuePath,
    parse_value_path,
)

#: The rules on a missing key and on a value of another type.
_MISSING, _OTHER_TYPE = "S101", "S102"
#: The types in a schema of values of each Python type.
_json_types = {
    str: "string",
    int: "integer",
    float: "number",
    ExactFloat: "number",
    bool: "boolean",
    list: "array",
    type(None): "null",
}
#: How values are called where they are expected, of fields that hold no texts alone.
_words = {
    "id": "text or an integer",
    "messages": "messages or text",
    "score": "a number, true, false or text",
}


def mapped_remarks(columns: Mapping[str, str], *, required: bool) -> Remarks:
    """Return what yields remarks on a row of JSON whose mapped values are of no use.

    `columns` has the key or path of each field. Text is the value of any field, as it
    is in a table; a null is no value, but of a field that may be null. That a row has
    no value is remarked if they are `required`.
    """
    checks = [
        _check_of(field, text, required=required) for field, text in columns.items()
    ]

    def remarks(row: Any) -> Iterator[Remark]:
        if isinstance(row, Mapping):
            for check in checks:
                yield from check(row)

    return remarks


def with_mapped_keys(
    schema: Schema, columns: Mapping[str, str], *, required: bool
) -> Schema | None:
    """Return a schema of the rows of `schema` on which `mapped_remarks` has no remark.

    None if none can be written: for paths into values, keys that `schema` knows, and a
    schema that does not allow all other keys, which a map does not change.
    """
    if not isinstance(schema, dict) or "$ref" in schema:
        return None
    if schema.get("additionalProperties", True) is not True:
        return None
    properties = dict(schema.get("properties", {}))
    for field, text in columns.items():
        if text in properties or parse_value_path(text).is_nested:
            return None
        properties[text] = _schema_of(field, nullable=not required)
    keys = [*schema.get("required", []), *(columns.values() if required else ())]
    return {**schema, "properties": properties, "required": keys}


def _schema_of(field: str, *, nullable: bool) -> Schema:
    """Return a schema of values that may be those of a field."""
    wanted = record_path(field)
    types = {"string"} | {_json_types[type_] for type_ in FIELD_TYPES[wanted]}
    items = "string" if wanted in TEXT_LISTS else "object"
    return {
        "type": sorted(types | {"null"} if nullable else types),
        "items": {"type": items},
    }


def is_mapped_value(field: str, value: Any) -> bool:
    """Tell whether `value` may be that of a mapped field: text, or of its own type."""
    return type(value) is str or fits(record_path(field), value)


def expected_of(field: str) -> str:
    """Return the words for the values that a mapped field may have."""
    is_list = record_path(field) in TEXT_LISTS
    return _words.get(field, "a text or an array of texts" if is_list else "a text")


def _check_of(
    field: str, text: str, *, required: bool
) -> Callable[[Mapping[str, Any]], Iterator[Remark]]:
    """Return what yields remarks on the value of a field in a row."""
    path = parse_value_path(text)

    def check(row: Mapping[str, Any]) -> Iterator[Remark]:
        try:
            value = path.find(row)
        except NoSuchItemError as error:
            yield Remark(_OTHER_TYPE, _place_of(path, row), f"{text}: {error}")
            return
        if not required and (value is UNSET or value is None):
            return
        if value is UNSET:
            help_ = f'add "{text}", {CORRECT_MAP}'
            yield Remark(_MISSING, (), f"{text}, mapped to {field}, is missing", help_)
        elif not is_mapped_value(field, value):
            found, expected = _found(field, value), expected_of(field)
            message = f"{text}, mapped to {field}, must be {expected}, found {found}"
            help_ = "mend the value, or map another key"
            yield Remark(_OTHER_TYPE, _place_of(path, row), message, help_)

    return check


def _found(field: str, value: Any) -> str:
    """Return a description of a value that may not be that of a field."""
    found = describe_value(value)
    if type(value) is not list or not is_mapped_value(field, []):
        return found
    wrong = (item for item in value if not is_mapped_value(field, [item]))
    return f"{found} with {describe_value(next(wrong))}"


def _place_of(path: ValuePath, row: Mapping[str, Any]) -> Path:
    """Return the place of a value in a row, or of what it is in as far as that goes."""
    if path.text in row:
        return (path.text,)
    place: list[str] = []
    value: Any = row
    for key in path.keys:
        if not (isinstance(value, Mapping) and key in value):
            break
        place.append(key)
        value = value[key]
    return tuple(place)
