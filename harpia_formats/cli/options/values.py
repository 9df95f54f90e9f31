"""From the text of option values to what the commands pass on."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import typer

from harpia_formats.api.options import Option
from harpia_formats.cli.exit_codes import UsageError

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


def reporter_name(name: str) -> str:
    """Return the name of a reporter; raises `typer.BadParameter` if there is none."""
    from harpia_formats.reporters import UnknownReporter, reporter_named  # noqa: PLC0415 - most commands have none

    try:
        reporter_named(name)
    except UnknownReporter as error:
        raise typer.BadParameter(str(error)) from None
    return name


def metrics_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names of metrics in `--metrics` values.

    Raises `UsageError` if there are values but no name in them.
    """
    names = (name.strip() for name in comma_separated(values))
    found = tuple(name for name in names if name)
    if values and not found:
        raise UsageError("--metrics names no metric")
    return found


def pairs_of(values: Iterable[str], option: Option) -> dict[str, str]:
    """Return the values of an option by their names; the last one of a name counts.

    Raises `UsageError` for a value that is not like its noun, such as `WHAT=NAME`.
    """
    return dict(_pair(text, option.words[0], option.noun) for text in values)


def parameters_of(values: Iterable[str], option: Option) -> dict[str, Any]:
    """Return the value of each metric parameter: decoded JSON, or else the text.

    Raises `UsageError` for a value that is not `METRIC.NAME=VALUE`.
    """
    from harpia_formats.model.exact_json import NOT_JSON, decode  # noqa: PLC0415 - most commands have no metrics

    found: dict[str, Any] = {}
    for name, value in pairs_of(values, option).items():
        try:
            found[name] = decode(value.encode())
        except NOT_JSON:
            found[name] = value
    return found


def constants_by_field(values: Iterable[str]) -> dict[str, str]:
    """Return the value of each field from `--set` values such as `score=1`.

    Raises `UsageError` for other text and for a field that is set twice.
    """
    found: dict[str, str] = {}
    for text in values:
        name, value = _pair(text, "--set", "FIELD=VALUE")
        if name in found:
            raise UsageError(f"--set {text}: {name} is set already")
        found[name] = value
    return found


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of `NAME=VALUE`; raises `UsageError` if one is missing."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text}: write it as {form}")
    return name, value
