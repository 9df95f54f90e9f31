"""From the text of an option or argument to its value, without pydantic.

Newer releases of typer convert values by pydantic. Its import takes a third of the time
of a short run, and its messages speak of types.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import typer


class Converter:
    """Converts the values of one parameter, in the place of typer's own converter."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        """Convert each value by `convert`, which raises `typer.BadParameter`."""
        self._convert = convert

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of `param`: one, or a list if it takes several.

        Raises `typer.BadParameter` for text that is none.
        """
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        try:
            if is_list:
                return [self._convert(each) for each in value]
            return self._convert(value)
        except typer.BadParameter as error:
            raise typer.BadParameter(error.message, ctx=ctx, param=param) from None


def with_converter(param: Any) -> Any:
    """Return `param`, which converts its values by a `Converter` from now on.

    A parameter of an older typer, or of a type that is not known here, stays as it is.
    """
    if getattr(param, "_runtime_param", param) is not None:
        return param
    descriptor = param.type_descriptor
    info = descriptor.parameter_info
    annotation = descriptor.annotation
    if get_origin(annotation) is list:
        (annotation,) = get_args(annotation)
    convert = info.parser or _conversion(annotation, info.min, info.max)
    if convert is not None:
        param._runtime_param = Converter(convert)  # noqa: SLF001 - typer has no other place for it
    return param


def _conversion(
    annotation: Any, least: float | None, most: float | None
) -> Callable[[Any], Any] | None:
    """Return the function that makes values of a type, None if it is not known."""
    if annotation in {int, float}:
        return _NumberConversion(annotation, least, most)
    return annotation if annotation in {str, Path, bool} else None


class _NumberConversion:
    """Makes numbers of text, and checks their range."""

    def __init__(
        self, kind: Callable[[Any], float], least: float | None, most: float | None
    ) -> None:
        self._kind = kind
        self._least = least
        self._most = most

    def __call__(self, value: Any) -> float:
        try:
            number = self._kind(value)
        except ValueError:
            what = "a whole number" if self._kind is int else "a number"
            raise typer.BadParameter(f"{value!r} is not {what}") from None
        if self._least is not None and not number >= self._least:
            raise typer.BadParameter(f"{value} is less than {self._least:g}")
        if self._most is not None and not number <= self._most:
            raise typer.BadParameter(f"{value} is more than {self._most:g}")
        return number
