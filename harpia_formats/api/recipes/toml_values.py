"""The values of options as TOML, which has no null."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from harpia_formats.files.toml import toml_value

#: What stands for null.
NULL: Mapping[str, Any] = {"null": True}


def to_toml(value: Any) -> str:
    """Return a value as TOML in one line; `from_toml` of it is the value.

    Raises `ValueError` for a value that has no TOML.
    """
    return toml_value(_without_null(value))


def _without_null(value: Any) -> Any:
    """Return a value with what stands for null in its place, and texts for paths."""
    if value is None:
        return NULL
    if isinstance(value, PathLike):
        return str(fspath(value))
    if isinstance(value, Mapping):
        return {name: _without_null(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_null(member) for member in value]
    return value


def from_toml(value: Any) -> Any:
    """Return a value with null for what stands for it.

    Raises `TypeError` for a date or time, which options do not hold.
    """
    if value == NULL and value["null"] is True:
        return None
    if isinstance(value, dict):
        return {name: from_toml(member) for name, member in value.items()}
    if isinstance(value, list):
        return [from_toml(member) for member in value]
    if not isinstance(value, str | int | float):
        raise TypeError(f"{value} is a date or time; write it as a text")
    return value
