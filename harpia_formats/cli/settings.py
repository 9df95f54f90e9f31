"""Values that come as words of the command line."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar

import typer

Kind = TypeVar("Kind", bound=StrEnum)


def split(values: Iterable[str] | None) -> tuple[str, ...]:
    """Return values given one by one or joined by commas."""
    return tuple(part for each in values or () for part in each.split(",") if part)


def one_of(kind: type[Kind], *choices: Kind) -> Callable[[str], Kind]:
    """Return what reads one of `choices`, of all of `kind` if there are none.

    It raises `typer.BadParameter` for another word, with the nearest choice.
    """
    known = choices or tuple(kind)

    def parse_column_map(text: str) -> Kind:
        if text in known:
            return kind(text)
        from harpia_formats.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

        near = nearest(text, known)
        hint = f"; did you mean {near}?" if near else ""
        listed = ", ".join(known)
        raise typer.BadParameter(f"{text!r} is not one of {listed}{hint}")

    return parse_column_map


def jobs(text: str) -> int:
    """Return how many worker processes are asked for, 0 for `auto`.

    Raises `typer.BadParameter`.
    """
    if text == "auto":
        return 0
    if text.isdecimal():
        return int(text)
    raise typer.BadParameter(f"{text!r} is neither a number nor auto")


def columns_of(parts: Iterable[str] | None) -> dict[str, str] | None:
    """Return the column of each field, of parts such as `prompt=question`.

    None if there are no parts. Raises `MapError`.
    """
    from harpia_formats.mapping.columns import parse_column_map  # noqa: PLC0415 - for tables only

    return parse_column_map(split(parts)) if parts else None


def constants_of(parts: Iterable[str]) -> dict[str, Any]:
    """Return the value of each field, of parts such as `score=1`.

    Raises `ConversionError`.
    """
    from harpia_formats.mapping.requirements import ConversionError  # noqa: PLC0415 - to convert only

    found: dict[str, Any] = {}
    for part in parts:
        name, sign, text = part.partition("=")
        if not sign or not name:
            raise ConversionError(f"--set {part}: write it as FIELD=VALUE")
        if name in found:
            raise ConversionError(f"--set {part}: {name} is set already")
        found[name] = text
    return found
