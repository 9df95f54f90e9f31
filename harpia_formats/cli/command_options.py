"""Parse the arguments of a command into the values of its options.

Values are converted without pydantic, by which newer releases of typer convert them:
its import takes a third of the time of a short run, and its messages speak of types.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harpia_formats.api import options as table
from harpia_formats.api.options import Option, options_of
from harpia_formats.api.run_settings import RunSettings
from harpia_formats.cli.progress_and_problems import Progress
from harpia_formats.cli.streams_and_exit_codes import (
    UsageError,
)


class WordError(ValueError):
    """A word that an option or argument does not take; its text says why."""


Choice = TypeVar("Choice", bound=str)


def one_of(choices: Iterable[Choice]) -> Callable[[str], Choice]:
    """Return a parser that accepts the text of each of `choices`.

    It raises `WordError` for other text, with the most similar choice.
    """
    by_text = {str(choice): choice for choice in choices}

    def parsed(text: str) -> Choice:
        if text in by_text:
            return by_text[text]
        from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - for mistakes only

        near = nearest(text, by_text)
        known = f"these; did you mean {near}?" if near else ", ".join(by_text)
        raise WordError(f"{text!r} is not one of {known}")

    return parsed


def worker_count(value: str | int) -> int:
    """Return the number of worker processes, 0 for `auto`.

    `value` is text, or the default of the option, which typer passes here, too. Raises
    `WordError` for text that is neither a number nor `auto`.
    """
    text = str(value)
    if text == "auto":
        return 0
    if text.isdecimal():
        with suppress(ValueError):  # too many digits
            return int(text)
    raise WordError(f"{text!r} is neither a number nor auto")


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

    return parse_column_map(values)


def delimiter(text: str) -> str:
    """Return the delimiter that `text` is or names, such as `;` or `tab`.

    Raises `WordError` if it is none.
    """
    from harpia_formats.files.parsing.csv_delimiter import delimiter_named  # noqa: PLC0415 - most runs read no table

    try:
        return delimiter_named(text)
    except ValueError as error:
        raise WordError(str(error)) from error


def reporter_name(name: str) -> str:
    """Return the name of a reporter; raises `WordError` if there is none."""
    from harpia_formats.reporters import UnknownReporter, reporter_named  # noqa: PLC0415 - most commands have none

    try:
        reporter_named(name)
    except UnknownReporter as error:
        raise WordError(str(error)) from None
    return name


def metrics_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names of metrics in `--metrics` values.

    Raises `UsageError` if there are values but no name in them.
    """
    names = (name.strip() for name in comma_separated(values))
    found = tuple(name for name in names if name)
    if values and not found:
        raise UsageError("`--metrics` names no metric")
    return found


def pairs_of(values: Iterable[str], option: Option) -> dict[str, str]:
    """Return the values of an option by their names; the last one of a name counts.

    Raises `UsageError` for a value that is not like its noun, such as `WHAT=NAME`.
    """
    return dict(_pair(text, option.words[0], option.noun) for text in values)


def parameters_of(values: Iterable[str], option: Option) -> dict[str, Any]:
    """Return the value of each metric parameter: decoded JSON, or else the text.

    Raises `UsageError` for a value that is not `METRIC.NAME=VALUE`, or not UTF-8.
    """
    from harpia_formats.model.exact_json import NOT_JSON, decode  # noqa: PLC0415 - most commands have no metrics

    found: dict[str, Any] = {}
    for name, value in pairs_of(values, option).items():
        try:
            found[name] = decode(value.encode())
        except UnicodeEncodeError:
            raise UsageError(
                f"`{option.words[0]}` {name}: {value!r} is not UTF-8"
            ) from None
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
            raise UsageError(f"`--set` {text}: {name} is set already")
        found[name] = value
    return found


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of `NAME=VALUE`; raises `UsageError` if one is missing."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"`{option}` {text}: write it as {form}")
    return name, value


def parser_of(option: Option) -> Callable[[str], Any] | None:
    """Return what makes a value of a word, None if the type of the option does."""
    if option.choices:
        return one_of(option.choices.split())
    return _parsers.get(option.kind)


def conversion_to(
    kind: Any, least: float | None, most: float | None
) -> Callable[[Any], Any]:
    """Return the function that makes values of a type, numbers in a range."""
    return NumberConversion(kind, least, most) if kind in {int, float} else kind


_Options = TypeVar("_Options")
#: The type of the values of each kind of option, where it is no text.
TYPES: dict[str, Any] = {
    table.FLAG: bool,
    table.WHOLE: int,
    table.WORKERS: int,
    table.NUMBER: float,
    table.PATH: Path,
}
#: What takes one word, and says whether it is right.
_parsers: dict[str, Callable[[str], Any]] = {
    table.WORKERS: worker_count,
    table.DELIMITER: delimiter,
    table.REPORTER: reporter_name,
}
#: What takes the values of an option that is given several times.
MEANINGS: dict[str, Callable[[list[str], Option], Any]] = {
    table.TEXTS: lambda values, _: tuple(values),
    table.NAMES: lambda values, _: comma_separated(values),
    table.METRICS: lambda values, _: metrics_of(values),
    table.MAP: lambda values, _: column_map(values),
    table.CONSTANTS: lambda values, _: constants_by_field(values),
    table.PAIRS: pairs_of,
    table.PARAMETERS: parameters_of,
}


class Given:
    """What a command is given: the value of each of its options, by its field."""

    def __init__(self, values: Mapping[str, Any], was_given: Iterable[str]) -> None:
        """Take the values, and the names that the user gave, such as max-problems."""
        self.__dict__.update(values)
        self.was_given = frozenset(was_given)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the value of an option."""

    def options(self, kind: Callable[..., _Options], **more: Any) -> _Options:
        """Return the options `kind` of a run, a dataclass, with `more` of its fields.

        Raises what `kind` raises.
        """
        own = vars(self)
        names = [one.name for one in fields(kind) if one.init]  # type: ignore[arg-type]  # a dataclass
        return kind(**{**{name: own[name] for name in names if name in own}, **more})

    def progress(
        self, inputs: Iterable[str], exclude: Iterable[str] | None = None
    ) -> Progress:
        """Return what shows the progress of a run on `inputs`.

        `exclude` are other patterns than those of the command line.
        """
        own = vars(self)
        return Progress(
            quiet=own.get("quiet", False),
            when=self.show_progress,
            inputs=inputs,
            exclude=own.get("exclude", ()) if exclude is None else exclude,
        )

    def settings(self) -> RunSettings:
        """Return the settings of the run. Raises `UsageError` or `TomlError`."""
        paths = [each for each in self.config if "=" not in each]
        if paths and self.isolated:
            raise UsageError(
                "`--config` and `--isolated` cannot be combined; use one of them"
            )
        if len(paths) > 1:
            raise UsageError(f"`--config` names two files: {', '.join(paths)}")
        lines = [each for each in self.config if "=" in each]
        path = paths[0] if paths else None
        return RunSettings(path, isolated=self.isolated, lines=lines)


def given_to(
    command: str, values: Mapping[str, Any], was_given: Iterable[str]
) -> Given:
    """Return what the command with a function of this name is given.

    `was_given` has the fields of the options that the user gave. Raises
    `HarpiaFormatsError` for a value that has no meaning.
    """
    found = dict(values)
    encoding = found.get("encoding")
    if encoding is not None:
        found = with_encoding(found, encoding)
    for option in options_of(command):
        meaning = MEANINGS.get(option.kind)
        if meaning is not None:
            found[option.field] = meaning(list(found[option.field] or ()), option)
    if found.get("stdin_filename") is not None:
        found = _with_named_stdin(command, found)
    names = (field.rstrip("_").replace("_", "-") for field in was_given)
    return Given(found, names)


def _with_named_stdin(command: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return values with a name for standard input, where it is an input.

    Raises `UsageError` if it is none.
    """
    from harpia_formats.files.io.encodings import EncodedPath  # noqa: PLC0415 - for few inputs

    # For scores it may have the name of a system, too: NAME=-.
    is_score = command in {"score", "score_compare"}
    changed, is_found = dict(values), False
    for field in INPUTS & values.keys():
        given = values[field]
        inputs = [given] if isinstance(given, str) else list(given or ["-"])
        for place, one in enumerate(inputs):
            if one == "-" or (is_score and one.endswith("=-")):
                encoding = getattr(one, "encoding", None)
                name = values["stdin_filename"]
                inputs[place], is_found = EncodedPath.of(one, encoding, name), True
        changed[field] = inputs[0] if isinstance(given, str) else inputs
    if not is_found:
        raise UsageError(
            "`--stdin-filename` names what is piped in: give - as the input"
        )
    return changed


class NumberConversion:
    """Makes numbers of text, and checks their range."""

    def __init__(
        self, kind: Callable[[Any], float], least: float | None, most: float | None
    ) -> None:
        self._kind = kind
        self._least = least
        self._most = most

    def __call__(self, value: Any) -> float:
        """Return the number of a text or number; raises `WordError` for others."""
        try:
            number = self._kind(value)
        except ValueError:
            what = "a whole number" if self._kind is int else "a number"
            raise WordError(f"{value!r} is not {what}{_on_unit(value)}") from None
        if isnan(number):
            raise WordError(f"{value} is not a number")
        if self._least is not None and not number >= self._least:
            raise WordError(f"{value} is less than {self._least:g}")
        if self._most is not None and not number <= self._most:
            raise WordError(f"{value} is more than {self._most:g}")
        return number


def _on_unit(value: Any) -> str:
    """Return how a number of bytes is given, if `value` has them with a unit."""
    is_unit = isinstance(value, str) and value[:1].isdigit() and value[-1] in "bB"
    return "; bytes are given without a unit, such as 1048576" if is_unit else ""


#: The parameters that are inputs.
INPUTS = frozenset({"paths", "path", "inputs", "left", "right"})

#: Options with which the bytes of the inputs are written again, or compared.
_OF_BYTES = {"fix": "--fix", "unsafe": "--unsafe-fixes", "diff": "--diff"}


def with_encoding(arguments: Mapping[str, Any], encoding: str) -> dict[str, Any]:
    """Return the arguments of a command whose inputs are in an encoding.

    Raises `UsageError` together with an option that writes the bytes of an input, and
    `OptionError` for a name that is no encoding.
    """
    from harpia_formats.files.io.encodings import EncodedPath, checked_encoding  # noqa: PLC0415 - only with the option

    for name, option in _OF_BYTES.items():
        if arguments.get(name) is True:
            raise UsageError(
                f"`{option}` is for UTF-8: convert the file with iconv first"
            )
    checked = checked_encoding(encoding)
    changed = dict(arguments)
    for name in INPUTS:
        given = changed.get(name)
        if isinstance(given, str):
            changed[name] = EncodedPath.of(given, checked)
        elif given:
            changed[name] = [EncodedPath.of(path, checked) for path in given]
        elif name in changed and name != "path":
            changed[name] = [EncodedPath.of("-", checked)]
    return changed
