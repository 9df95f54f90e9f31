"""Check that rows of JSON have the values that a map of the user names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_formats.model.column_map import CORRECT_MAP, record_path
from harpia_formats.model.describe import describe_value
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.problem import Path
from harpia_formats.model.record import TEXT_LISTS, fits
from harpia_formats.model.value_path import (
    NoSuchItemError,
    ValuePath,
    parse_value_path,
)

#: The rules on a missing key and on a value of another type.
_MISSING, _OTHER_TYPE = "S101", "S102"
#: How a list of texts, numbers and others are called where they are expected.
_words = {"messages": "messages or text", "score": "a number, true, false or text"}


def mapped_remarks(columns: Mapping[str, str]) -> Remarks:
    """Return what yields remarks on a row of JSON that lacks a mapped value.

    `columns` has the key or path of each field. Text is the value of any field, as it
    is in a table; a null is no value, but of a field that may be null.
    """
    checks = [_check_of(field, text) for field, text in columns.items()]

    def remarks(row: Any) -> Iterator[Remark]:
        if isinstance(row, Mapping):
            for check in checks:
                yield from check(row)

    return remarks


def _check_of(field: str, text: str) -> Callable[[Mapping[str, Any]], Iterator[Remark]]:
    """Return what yields remarks on the value of a field in a row."""
    path, wanted = parse_value_path(text), record_path(field)
    words = _words.get(field, "a text")
    if wanted in TEXT_LISTS:
        words = "a text or an array of texts"
    elif field == "id":
        words = "text or an integer"

    def check(row: Mapping[str, Any]) -> Iterator[Remark]:
        try:
            value = path.find(row)
        except NoSuchItemError as error:
            yield Remark(_OTHER_TYPE, _place_of(path, row), f"{text}: {error}")
            return
        if value is UNSET:
            help_ = f'add "{text}", {CORRECT_MAP}'
            yield Remark(_MISSING, (), f"{text}, mapped to {field}, is missing", help_)
        elif type(value) is not str and not fits(wanted, value):
            found = describe_value(value)
            message = f"{text}, mapped to {field}, must be {words}, found {found}"
            help_ = "mend the value, or map another key"
            yield Remark(_OTHER_TYPE, _place_of(path, row), message, help_)

    return check


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
