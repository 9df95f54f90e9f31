"""From the table of options to the parameters of a command, and to what it is given.

Values are converted without pydantic, by which newer releases of typer convert them:
its import takes a third of the time of a short run, and its messages speak of types.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin

import typer

from harpia_formats.api import options as table
from harpia_formats.api.options import Option, help_of, options_of
from harpia_formats.api.run_settings import RunSettings
from harpia_formats.cli.progress_and_problems import Progress
from harpia_formats.cli.streams_and_exit_codes import UsageError

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
        from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - for mistakes only

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
        raise UsageError("`--metrics` names no metric")
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
            raise UsageError(f"`--set` {text}: {name} is set already")
        found[name] = value
    return found


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of `NAME=VALUE`; raises `UsageError` if one is missing."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"`{option}` {text}: write it as {form}")
    return name, value


_Options = TypeVar("_Options")
#: What typer makes of the words of each kind of option, where it is no text.
_types: dict[str, Any] = {
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
_meanings: dict[str, Callable[[list[str], Option], Any]] = {
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


def given_to(command: str, values: Mapping[str, Any], context: Any) -> Given:
    """Return what the command with a module of this name is given.

    `context` is what typer knows of the run. Raises `HarpiaFormatsError` for a value
    that has no meaning.
    """
    found = dict(values)
    encoding = found.get("encoding")
    if encoding is not None:
        found = with_encoding(found, encoding)
    for option in options_of(command):
        meaning = _meanings.get(option.kind)
        if meaning is not None:
            found[option.field] = meaning(list(found[option.field] or ()), option)
    if found.get("stdin_filename") is not None:
        found = _with_named_stdin(command, found)
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return Given(
        found,
        (
            name.rstrip("_").replace("_", "-")
            for name, source in sources.items()
            if source is not None and source.name == "COMMANDLINE"
        ),
    )


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


def signature_of(command: str) -> inspect.Signature:
    """Return the parameters of a command as typer reads them, its context first."""
    parameters = [_parameter(option) for option in options_of(command)]
    context = _keyword("context", typer.Context)
    return inspect.Signature([context, *parameters])


def _keyword(
    name: str, kind: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    """Return a parameter that is passed by its name."""
    place = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, place, default=default, annotation=kind)


def _parameter(option: Option) -> inspect.Parameter:
    """Return the parameter of a command for an option, as typer reads it."""
    kind = list[str] if option.kind in _meanings else _types.get(option.kind, str)
    parser = _parsers.get(option.kind)
    if option.choices:
        parser = one_of(option.choices.split())
    named: dict[str, Any] = {
        "metavar": option.noun,
        # Lists of values take time: the page has them instead of their placeholder.
        "help": option.help if option.values else help_of(option),
        "parser": parser,
        "min": option.least,
        "max": option.most,
        "show_default": option.shows_default,
    }
    if not option.words:
        return _keyword(option.field, kind, typer.Argument(option.default, **named))
    long, *short = option.words
    if option.setting and option.kind == table.FLAG:
        long = f"{long}/--no-{long.removeprefix('--')}"
    # A flag is off if it is not given, unless something else decides then.
    default = option.default
    if default is None and option.kind == table.FLAG and "/--no-" not in option.names:
        default = False
    panel = option.panel or None
    info = typer.Option(default, long, *short, rich_help_panel=panel, **named)
    return _keyword(option.field, kind | None if default is None else kind, info)


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


#: The parameters that are inputs.
INPUTS = frozenset({"paths", "path", "inputs", "left", "right"})

#: Options with which the bytes of the inputs are written again, or compared.
_OF_BYTES = {"fix": "--fix", "diff": "--diff"}


def with_encoding(arguments: Mapping[str, Any], encoding: str) -> dict[str, Any]:
    """Return the arguments of a command whose inputs are in an encoding.

    Raises `UsageError` beside an option that writes the bytes of an input, and
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
