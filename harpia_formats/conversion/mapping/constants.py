"""Parse the values that the user gives for fields that records lack."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.exact_json import NumberOutOfRange, decode, encode
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS, fits
from harpia_formats.model.text.spelling import hint_on

_words: dict[type, str] = {
    bool: "true or false",
    dict: "an object in JSON",
    float: "a number",
    int: "a number",
    list: "a list in JSON",
    str: "text",
}


def constants_by_path(
    adapter: FormatAdapter, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the `given` values by the paths of their fields in a record.

    Raises `ConversionError` for an unknown field or a value of another type.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        path = find_field_path(name, adapter)
        if path is None:
            known = list(dict.fromkeys(field.name for field in adapter.fields))
            raise ConversionError(f"no field is called {name!r}{hint_on(name, known)}")
        try:
            found[path] = parse_constant(path, value)
        except ValueError as error:
            raise ConversionError(f"{name}: {error}") from error
    return found


def check_constants(targets: Sequence[FormatAdapter], given: Mapping[str, Any]) -> None:
    """Raise `ConversionError` if no adapter in `targets` has the given fields."""
    errors = []
    for target in reversed(targets):
        try:
            constants_by_path(target, given)
        except ConversionError as error:
            errors.append(error)
    if len(errors) == len(targets):
        raise errors[0]


def parse_constant(path: str, value: Any) -> Any:
    """Return `value` as a value of the field at `path`.

    For a text field a text stays as it is; for a list of texts it becomes the only
    item; for other fields it is read as JSON. Raises `ValueError` for a wrong type.
    """
    _check_json(value)
    if path not in FIELD_TYPES:
        return _from_json(value) if isinstance(value, str) else value
    types = FIELD_TYPES[path]
    if isinstance(value, str) and str not in types:
        found = _from_json(value)
        if path in TEXT_LISTS and not isinstance(found, list):
            found = [value]
        value = found
    if not fits(path, value):
        names = dict.fromkeys(_words[type_] for type_ in types if type_ in _words)
        raise ValueError(f"{value!r} is not {' or '.join(names)}")
    return value


def _check_json(value: Any) -> None:
    """Raise `ValueError` unless `value` can be written as JSON and read again."""
    try:
        is_same = decode(encode(value)) == value
    except UnicodeEncodeError:
        raise ValueError(f"{value!r} is not text in UTF-8") from None
    except (msgspec.MsgspecError, TypeError, RecursionError) as error:
        raise ValueError(f"{value!r} is no value of JSON: {error}") from error
    if not is_same:
        raise ValueError(f"{value!r} is no value of JSON")


def _from_json(text: str) -> Any:
    """Return the decoded JSON text, or `text` itself if it is not JSON.

    Raises `ValueError` for a number that is out of range.
    """
    try:
        return decode(text.encode())
    except NumberOutOfRange as error:
        raise ValueError(str(error)) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return text
