"""From the table of options to the parameters of a command, and to what it is given."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from harpia_formats.api import options as table
from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import Option, options_of
from harpia_formats.api.settings.apply import RunSettings
from harpia_formats.cli.exit_codes import UsageError
from harpia_formats.cli.options.values import (
    column_map,
    comma_separated,
    constants_by_field,
    delimiter,
    metrics_of,
    one_of,
    pairs_of,
    parameters_of,
    reporter_name,
    worker_count,
)
from harpia_formats.cli.output.progress import Progress

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
                "--config and --isolated cannot be combined; use one of them"
            )
        if len(paths) > 1:
            raise UsageError(f"--config names two files: {', '.join(paths)}")
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
        from harpia_formats.cli.program.encoding import with_encoding  # noqa: PLC0415 - for few inputs

        found = with_encoding(found, encoding)
    for option in options_of(command):
        meaning = _meanings.get(option.kind)
        if meaning is not None:
            found[option.field] = meaning(list(found[option.field] or ()), option)
    if found.pop("skip_invalid", False):
        if found["on_invalid"] not in {"fail", "skip"}:
            raise UsageError("--skip-invalid and --on-invalid cannot be combined")
        found["on_invalid"] = "skip"
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
    from harpia_formats.cli.program.encoding import INPUTS  # noqa: PLC0415 - for few inputs
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
        raise UsageError("--stdin-filename names what is piped in: give - as the input")
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
