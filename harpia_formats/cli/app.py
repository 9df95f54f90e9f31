"""Run a command with typer, and report mistakes in its arguments."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer import echo
from typer.core import TyperCommand, TyperGroup

from harpia_formats._version import __version__
from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import FLAG, INSTEAD, Option, options_of
from harpia_formats.cli.command_options import (
    MEANINGS,
    TYPES,
    WordError,
    conversion_to,
    given_to,
    parser_of,
)
from harpia_formats.cli.command_table import (
    COMMANDS,
    MODULES,
    PROGRAM,
    TWO_WORDS,
    all_commands,
)
from harpia_formats.cli.help_page import (
    ABOUT,
    HELP,
    HELP_ALL,
    VERSION,
    Style,
    command_page,
    program_page,
    usual_style,
)
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    exceptions_to_exit_codes,
    print_error,
    write_stderr,
)
from harpia_formats.model.spelling import hint_on, nearest

#: What is meant by words that other programs have as commands.
_MEANT = {
    "check": "validate",
    "help": "--help",
    "version": "--version",
}


class Command(TyperCommand):
    """A command with our help page, and values that are converted by us."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options of the command, `--help` with them."""
        return [_with_converter(each) for each in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words behind the command; print the whole help page if asked."""
        words = args[: args.index("--")] if "--" in args else args
        if HELP_ALL in words and not ctx.resilient_parsing:
            style = _style_in(ctx)
            echo(command_page(_name_in(ctx), style, is_whole=True), nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page of the command."""
        formatter.write(command_page(_name_in(ctx), _style_in(ctx)))


class Group(TyperGroup):
    """The commands of one word, or those with the same first word."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the group, `--help` with them."""
        return [_with_converter(each) for each in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words before the command; without any, print the help page."""
        if not args and not ctx.resilient_parsing:
            sys.stderr.write(self.get_help(ctx) + "\n")
            raise SystemExit(ExitCode.UNABLE)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word; raises `UsageError` if it is none."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            names = [name for name in self.commands if " " not in name]
            raise unknown_command(args[0], names)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page of the group."""
        formatter.write(program_page(_style_in(ctx)))


def _name_in(ctx: Any) -> str:
    """Return the name of the command of a context of typer."""
    return "_".join(ctx.command_path.split()[1:])


def _style_in(ctx: Any) -> Style:
    """Return how a page is printed, and tell typer whether it has colours."""
    style = usual_style()
    # Otherwise click takes colours out of what goes to a pipe.
    ctx.color = style.color
    return style


def unknown_command(asked: str, names: Sequence[str]) -> UsageError:
    """Return the error for a command that does not exist, with the nearest name."""
    if asked in _MEANT:
        return UsageError(f"there is no command {asked!r}; use {_MEANT[asked]}")
    longer = [name for name in names if name.startswith(asked)]
    hint = f"; did you mean {longer[0]}?" if len(longer) == 1 else hint_on(asked, names)
    return UsageError(f"there is no command {asked!r}{hint}")


def check_second_word(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for `schema chek`, unless it is a file of that name."""
    seconds = [second for first, second in TWO_WORDS if [first] == [*arguments[:1]]]
    if not seconds or len(arguments) == 1 or os.path.lexists(arguments[1]):
        return
    near = nearest(arguments[1], seconds)
    if near:
        raise unknown_command(" ".join(arguments[:2]), [f"{arguments[0]} {near}"])


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the one command that `arguments` begin with.

    It has all commands if `arguments` begin with none of them. Raises `UsageError` for
    a misspelt command of two words.
    """
    app = typer.Typer(
        cls=Group,
        name=PROGRAM,
        context_settings={"help_option_names": HELP.words[::-1]},
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(help=ABOUT)(_harpia_formats)
    if tuple(arguments[:2]) in TWO_WORDS:
        first, second = arguments[:2]
        group = typer.Typer(cls=Group, add_completion=False, rich_markup_mode=None)
        group.command(second, cls=Command)(_command(TWO_WORDS[first, second]))
        app.add_typer(group, name=first)
        return app
    check_second_word(arguments)
    named = [(name, name) for name in arguments[:1] if name in COMMANDS]
    for words, name in named or all_commands():
        app.command(words, cls=Command)(_command(name))
    return app


def run(arguments: Sequence[str]) -> None:
    """Run the command line `arguments`; raises `SystemExit` with its exit code."""
    try:
        code = app_for(arguments)(
            list(arguments), prog_name=PROGRAM, standalone_mode=False
        )
    except typer.Abort:  # what older releases of typer make of an interrupt
        raise KeyboardInterrupt from None
    except Exception as error:
        words = arguments[: 2 if tuple(arguments[:2]) in TWO_WORDS else 1]
        command = words if words and words[0] in COMMANDS else ()
        if not print_mistake(error, " ".join([PROGRAM, *command])):
            raise
        code = ExitCode.UNABLE
    raise SystemExit(code)


def _command(name: str) -> Callable[..., None]:
    """Return the function of the command `name` as typer calls it.

    Its parameters are those that the table of options has for it. It ends the process.
    """

    def command(*, context: typer.Context, **values: Any) -> None:
        function = getattr(import_module(MODULES[name]), name)
        sources = ((field, context.get_parameter_source(field)) for field in values)
        was_given = (field for field, source in sources if _is_written(source))
        with exceptions_to_exit_codes():
            code = function(given_to(name, values, was_given))
        raise SystemExit(code)

    signature = _signature_of(name)
    command.__name__ = name
    command.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = {
        each.name: each.annotation for each in signature.parameters.values()
    }
    return command


def _is_written(source: Any) -> bool:
    """Tell whether a value is of the command line, by its source in typer."""
    return source is not None and source.name == "COMMANDLINE"


def _signature_of(command: str) -> inspect.Signature:
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
    kind = list[str] if option.kind in MEANINGS else TYPES.get(option.kind, str)
    parser = parser_of(option)
    named: dict[str, Any] = {
        "metavar": option.noun,
        # Lists of values take time: the page has them instead of their placeholder.
        "help": option.help if option.values else help_of(option),
        "parser": Parser(parser) if parser else None,
        "min": option.least,
        "max": option.most,
        "show_default": option.shows_default,
    }
    if not option.words:
        return _keyword(option.field, kind, typer.Argument(option.default, **named))
    long, *short = option.words
    if option.setting and option.kind == FLAG:
        long = f"{long}/--no-{long.removeprefix('--')}"
    # A flag is off if it is not given, unless something else decides then.
    default = option.default
    if default is None and option.kind == FLAG and "/--no-" not in option.names:
        default = False
    panel = option.panel or None
    info = typer.Option(default, long, *short, rich_help_panel=panel, **named)
    return _keyword(option.field, kind | None if default is None else kind, info)


class Parser:
    """Makes a value of a word, and tells typer in its way if there is none."""

    def __init__(self, parse: Callable[[str], Any]) -> None:
        """Parse by `parse`, which may raise `WordError`."""
        self._parse = parse
        #: Older releases of typer take any parser for a function.
        self.__name__ = "choice"

    def __call__(self, text: str) -> Any:
        """Return the value of `text`; raises `typer.BadParameter` if it has none."""
        try:
            return self._parse(text)
        except WordError as error:
            raise typer.BadParameter(str(error)) from None


class Converter:
    """Converts the values of one parameter, in the place of typer's own converter."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        """Convert each value by `convert`, which may raise `WordError`."""
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
        except (WordError, typer.BadParameter) as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None


def _with_converter(param: Any) -> Any:
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
    if info.parser or annotation in {int, float, str, Path, bool}:
        convert = info.parser or conversion_to(annotation, info.min, info.max)
        param._runtime_param = Converter(convert)  # noqa: SLF001 - typer has no other place for it
    return param


def _print_version(requested: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if requested:
        typer.echo(f"harpia-formats {__version__}")
        raise typer.Exit


def _harpia_formats(
    *,
    version: Annotated[
        bool,
        typer.Option(
            *VERSION.words,
            metavar="",
            callback=_print_version,
            is_eager=True,
            help=VERSION.help,
        ),
    ] = False,
) -> None:
    """Do nothing; the option ends the process if it is given."""


#: The class of all mistakes. Which module defines it depends on the release of typer.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]


def print_mistake(error: Any, command: str) -> bool:
    """Print what is wrong with the words behind `command`, and how to get help.

    Returns False if `error` is not a mistake in the command line; nothing is printed
    then.
    """
    if not isinstance(error, USAGE_ERROR):
        return False
    print_error(_reason_of_mistake(error).strip().rstrip("."))
    write_stderr(f"for help: {command} --help\n")
    return True


def _reason_of_mistake(error: Any) -> str:
    """Return what is wrong, with the name that was probably meant."""
    kind = type(error).__name__
    if kind == "NoSuchOption":
        known = list(_long_options(error.ctx))
        instead = INSTEAD.get(error.option_name, "")
        # A command may have neither the old option nor the new one.
        if instead and (not instead.startswith("--") or instead.split()[0] in known):
            return f"there is no option {error.option_name}; use {instead}"
        near = nearest(error.option_name, known)
        hint = f"; did you mean {near}?" if near else ""
        return f"there is no option {error.option_name}{hint}"
    if kind == "MissingParameter" and error.param is not None:
        # Some older releases of typer lose the help of arguments.
        about = f": {error.param.help}" if error.param.help else ""
        return f"{_name_of(error.param)} is missing{about}"
    if kind == "BadOptionUsage":
        found: str = error.message
        return f"{found[:1].lower()}{found[1:]}".replace("'", "")
    if getattr(error, "param", None) is not None:
        return f"{_name_of(error.param)}: {error.message}"
    message = re.sub(
        r"(?:\(s\))? \((.*)\)$", r": \1", error.format_message().rstrip(".")
    )
    return f"{message[:1].lower()}{message[1:]}"


def _name_of(parameter: Any) -> str:
    """Return the names of an option, or the noun of an argument."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    return "/".join(parameter.opts)


def _long_options(context: Any) -> Iterator[str]:
    """Yield the long names of the options of the command that is parsed."""
    if context is not None:
        for parameter in context.command.get_params(context):
            yield from (name for name in parameter.opts if name.startswith("--"))
