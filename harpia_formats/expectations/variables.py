"""Variables in the texts of a preflight file, written as ${NAME}."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.expectations.plan import Places
from harpia_formats.expectations.table import VARIABLES
from harpia_formats.model.text.spelling import nearest

_variable = re.compile(r"\$\{([^{}]*)\}")


def used_variables(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the variables in a document, each once."""
    texts = (text for key, value in document.items() for text in _texts(key, value))
    return list(
        dict.fromkeys(name for text in texts for name in _variable.findall(text))
    )


def with_variables(
    document: Mapping[str, Any], values: Mapping[str, str], places: Places
) -> dict[str, Any]:
    """Return a document with the `values` of variables in its texts.

    Raises `PreflightError` for a variable without a value.
    """
    return {
        key: value if key == VARIABLES else _filled(value, values, places, (key,))
        for key, value in document.items()
    }


def _filled(
    value: Any, values: Mapping[str, str], places: Places, path: tuple[str, ...]
) -> Any:
    """Return the value at `path` with the values of variables in its texts."""
    if isinstance(value, dict):
        return {
            key: _filled(member, values, places, (*path, key))
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [_filled(item, values, places, path) for item in value]
    if not isinstance(value, str):
        return value

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return values[name]
        near = nearest(name, values)
        hint = f" (did you mean ${{{near}}}?)" if near else ""
        reason = f"${{{name}}} has no value{hint}; give it one with --var {name}=VALUE"
        raise places.of(path).error(reason)

    return _variable.sub(value_of, value)


def _texts(key: str, value: Any) -> Iterator[str]:
    """Yield the texts in a value, but not those of the table of variables."""
    if key == VARIABLES:
        return
    if isinstance(value, str):
        yield value
    members = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list)):
        for member in members:
            yield from _texts("", member)
