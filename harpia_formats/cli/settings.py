"""Values that come as words of the command line."""

from collections.abc import Iterable
from typing import Any


def split(values: Iterable[str] | None) -> tuple[str, ...]:
    """Return values given one by one or joined by commas."""
    return tuple(part for each in values or () for part in each.split(",") if part)


def constants_of(parts: Iterable[str]) -> dict[str, Any]:
    """Return the value of each field, of parts such as `score=1`.

    Raises `ConversionError`.
    """
    from harpia_formats.needs import ConversionError  # noqa: PLC0415 - to convert only

    found: dict[str, Any] = {}
    for part in parts:
        name, sign, text = part.partition("=")
        if not sign or not name:
            raise ConversionError(f"--set {part}: write it as FIELD=VALUE")
        if name in found:
            raise ConversionError(f"--set {part}: {name} is set already")
        found[name] = text
    return found
