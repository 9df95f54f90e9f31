"""Values that are given for what records lack."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harpia_formats.mapping.requirements import ConversionError, find_field_path
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS, fits

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
    """Return what is given for fields, by their paths; raises `ConversionError`."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        path = find_field_path(name, adapter)
        if path is None:
            from harpia_formats.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

            known = list(dict.fromkeys(each.name for each in adapter.fields))
            near = nearest(name, known)
            hint = (
                f"; did you mean {near}?" if near else f" (known: {', '.join(known)})"
            )
            raise ConversionError(f"no field is called {name!r}{hint}")
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
    """Return `value` as the field at `path` holds it.

    Text is taken as it is where the field is text, as the only item where it is a list
    of texts, and read as JSON elsewhere. Raises `ValueError`.
    """
    if path not in FIELD_TYPES:
        return _from_json(value) if isinstance(value, str) else value
    kinds = FIELD_TYPES[path]
    if isinstance(value, str) and str not in kinds:
        found = _from_json(value)
        if path in TEXT_LISTS and not isinstance(found, list):
            found = [value]
        value = found
    if not fits(path, value):
        names = dict.fromkeys(_words[each] for each in kinds if each in _words)
        raise ValueError(f"{value!r} is not {' or '.join(names)}")
    return value


def _from_json(text: str) -> Any:
    try:
        return decode(text.encode())
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return text
