"""Write values as TOML, and read them: TOML has no null."""

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

#: What stands for null.
NULL: Mapping[str, Any] = {"null": True}


def toml_text(text: str) -> str:
    """Return a text in quotes; raises `ValueError` for one that is not Unicode."""
    text.encode()  # a name of a file with other bytes has no text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_name(name: str) -> str:
    """Return a key, in quotes if it needs them; raises `ValueError` as above."""
    is_bare = name and all(
        one.isascii() and (one.isalnum() or one in "-_") for one in name
    )
    return name if is_bare else toml_text(name)


def toml_value(value: Any) -> str:
    """Return a value as TOML in one line; `from_toml` of it is the value.

    Raises `ValueError` for a value that has no TOML.
    """
    if value is None:
        return toml_value(NULL)
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, str | PathLike):
        return toml_text(str(fspath(value)))
    if isinstance(value, Mapping):
        members = (
            f"{toml_name(key)} = {toml_value(one)}" for key, one in value.items()
        )
        inside = ", ".join(members)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    raise ValueError(f"{value!r} cannot be written as TOML")


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
