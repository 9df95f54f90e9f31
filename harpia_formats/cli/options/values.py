"""From the text of option values to what the commands pass on."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import typer

Choice = TypeVar("Choice", bound=str)


def one_of(choices: Iterable[Choice]) -> "OneOf[Choice]":
    """Return a parser that accepts the text of each of `choices`."""
    return OneOf(choices)


class OneOf(Generic[Choice]):
    """Parses the text of some choices."""

    def __init__(self, choices: Iterable[Choice]) -> None:
        #: The choices by their text.
        self.choices = {str(choice): choice for choice in choices}
        #: Older releases of typer take any parser for a function.
        self.__name__ = "choice"

    def __call__(self, text: str) -> Choice:
        """Return the choice with this text.

        Raises `typer.BadParameter` for other text, with the most similar choice.
        """
        if text in self.choices:
            return self.choices[text]
        from harpia_formats.model.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

        near = nearest(text, self.choices)
        known = f"these; did you mean {near}?" if near else ", ".join(self.choices)
        raise typer.BadParameter(f"{text!r} is not one of {known}")


def listed(choices: Iterable[str]) -> str:
    """Return choices as a part of a sentence: `first, expand or fail`."""
    *others, last = (str(choice) for choice in choices)
    return f"{', '.join(others)} or {last}" if others else last


def worker_count(value: str | int) -> int:
    """Return the number of worker processes, 0 for `auto`.

    `value` is text, or the default of the option, which typer passes here, too. Raises
    `typer.BadParameter` for text that is neither a number nor `auto`.
    """
    text = str(value)
    if text == "auto":
        return 0
    if text.isdecimal():
        return int(text)
    raise typer.BadParameter(f"{text!r} is neither a number nor auto")


def comma_separated(values: Iterable[str] | None) -> tuple[str, ...]:
    """Return the parts of option values that were given one by one or with commas."""
    return tuple(part for value in values or () for part in value.split(",") if part)


def column_map(values: Iterable[str] | None) -> dict[str, str] | None:
    """Return the column of each field from values such as `prompt=question,gt=a`.

    Returns None if there are no values. Raises `MapError` for other text.
    """
    if not values:
        return None
    from harpia_formats.model.column_map import parse_column_map  # noqa: PLC0415 - `judge --help` needs none of it

    return parse_column_map(comma_separated(values))


def delimiter(text: str) -> str:
    """Return the delimiter that `text` is or names, such as `;` or `tab`.

    Raises `typer.BadParameter` if it is none.
    """
    from harpia_formats.files.parsing.csv_delimiter import delimiter_named  # noqa: PLC0415 - most runs read no table

    try:
        return delimiter_named(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def name_and_value(text: str, option: str, form: str, error: type[Exception]) -> Any:
    """Return the two parts of `NAME=VALUE`.

    Raises `error`, which names `option` and the right `form`, if one is missing.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise error(f"{option} {text}: write it as {form}")
    return name, value


def constants_by_field(values: Iterable[str] | None) -> dict[str, str]:
    """Return the value of each field from `--set` values such as `score=1`.

    Raises `ConversionError` for other text and for a field that is set twice.
    """
    from harpia_formats.model.errors import ConversionError  # noqa: PLC0415 - `validate` converts nothing

    found: dict[str, str] = {}
    for text in values or ():
        name, value = name_and_value(text, "--set", "FIELD=VALUE", ConversionError)
        if name in found:
            raise ConversionError(f"--set {text}: {name} is set already")
        found[name] = value
    return found
