"""The table of commands, how typer runs one, and messages on mistakes in its words."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer import echo
from typer.core import TyperCommand, TyperGroup

from harpia_formats._version import __version__
from harpia_formats.api.options import INSTEAD, Option, help_of, options_of
from harpia_formats.cli.command_options import given_to, signature_of, with_converter
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    exceptions_to_exit_codes,
    print_error,
    write_stderr,
)
from harpia_formats.model.spelling import nearest

#: The names of the option that prints the help page.
HELP = ["-h", "--help"]


#: The most lines of a page that shows all options without being asked.
MOST_LINES = 58
#: The values that the page with the usual options lists of an option.
_LISTED = 5
#: What prints the page with all options.
HELP_ALL = "--help-all"
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
        return [with_converter(each) for each in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words behind the command; print the whole help page if asked."""
        words = args[: args.index("--")] if "--" in args else args
        if HELP_ALL in words and not ctx.resilient_parsing:
            echo(_page(self, ctx, (), is_whole=True), nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page of the command."""
        formatter.write(_page(self, ctx, ()))


class Group(TyperGroup):
    """The commands of one word, or those with the same first word."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the group, `--help` with them."""
        return [with_converter(each) for each in super().get_params(ctx)]

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
        from harpia_formats.cli.help_page import summary  # noqa: PLC0415 - for help only

        commands = [
            (name, summary(command.help or ""))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        formatter.write(_page(self, ctx, commands))


def unknown_command(asked: str, names: Sequence[str]) -> UsageError:
    """Return the error for a command that does not exist, with the nearest name."""
    from harpia_formats.model.spelling import hint_on  # noqa: PLC0415 - for mistakes only

    if asked in _MEANT:
        return UsageError(f"there is no command {asked!r}; use {_MEANT[asked]}")
    longer = [name for name in names if name.startswith(asked)]
    hint = f"; did you mean {longer[0]}?" if len(longer) == 1 else hint_on(asked, names)
    return UsageError(f"there is no command {asked!r}{hint}")


def _page(
    command: Any,
    ctx: Any,
    commands: Sequence[tuple[str, str]],
    *,
    is_whole: bool = False,
) -> str:
    """Return the help page of a command or group.

    Unless it `is_whole`, it has the options that most runs need, if there are many.
    """
    from harpia_formats.cli.help_page import (  # noqa: PLC0415 - for help only
        Style,
        argument_name,
        help_page,
    )
    from harpia_formats.cli.streams_and_exit_codes import wants_color  # noqa: PLC0415 - for help only

    parameters = command.get_params(ctx)
    usage = [ctx.command_path, "[OPTIONS]"]
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            name = argument_name(parameter)
            usage.append(name if parameter.required else f"[{name}]")
    if commands:
        usage.append("COMMAND [ARGUMENTS]...")
    # Otherwise click takes colours out of what goes to a pipe.
    ctx.color = wants_color(sys.stdout)
    style = Style(get_terminal_size().columns, color=ctx.color)
    about, line = command.help or "", f"Usage: {' '.join(usage)}"
    module = "_".join(ctx.command_path.split()[1:])
    options = {one.field: one for one in options_of(module)}
    _set_help(parameters, options, None)
    page = help_page(line, about, parameters, commands, style)
    if is_whole or commands or page.count("\n") <= MOST_LINES:
        return page
    rare = {name for name, one in options.items() if one.words and not one.usual}
    often = [one for one in parameters if one.name not in rare]
    _set_help(often, options, _LISTED)
    more = f"\n{ctx.command_path} {HELP_ALL} shows {len(rare)} more options.\n"
    return help_page(line, about, often, commands, style) + more


def _set_help(
    parameters: Sequence[Any], options: Mapping[str, Option], most: int | None
) -> None:
    """Put the values of options, or the first `most` of all, into their help."""
    for one in parameters:
        if one.name in options:
            one.help = help_of(options[one.name], most)


PROGRAM = "harpia-formats"
COMMANDS_IN = "harpia_formats.cli.commands"
#: Each command is the function of that name there, in a module of that name, or in
#: that of `MODULES`.
COMMANDS = (
    "validate",
    "preflight",
    "convert",
    "roundtrip",
    "diff",
    "score",
    "stats",
    "judge",
    "head",
    "sample",
    "split",
    "merge",
    "view",
    "detect",
    "formats",
    "schema",
    "rule",
    "config",
    "completion",
)
#: Commands of two words, each with its function.
TWO_WORDS = {
    ("schema", "check"): "schema_check",
    ("schema", "infer"): "schema_infer",
    ("score", "compare"): "score_compare",
    ("score", "agreement"): "score_agreement",
}


#: The modules that hold several commands.
MODULES = {
    "diff": "comparisons",
    "roundtrip": "comparisons",
    "head": "subsets",
    "sample": "subsets",
    "split": "subsets",
    "merge": "subsets",
    "schema": "schemas",
    "schema_check": "schemas",
    "schema_infer": "schemas",
    "score_compare": "score",
    "score_agreement": "score",
}


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the one command that `arguments` begin with.

    It has all commands if `arguments` begin with none of them. Other commands are not
    imported, so that each starts as fast as it can. Raises `UsageError` for a misspelt
    command of two words.
    """
    app = typer.Typer(
        cls=Group,
        name=PROGRAM,
        context_settings={"help_option_names": HELP},
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_harpia_formats)
    if tuple(arguments[:2]) in TWO_WORDS:
        first, second = arguments[:2]
        group = typer.Typer(cls=Group, add_completion=False, rich_markup_mode=None)
        group.command(second, cls=Command)(_command(TWO_WORDS[first, second]))
        app.add_typer(group, name=first)
        return app
    _check_second_word(arguments)
    named = [name for name in arguments[:1] if name in COMMANDS]
    for name in named or COMMANDS:
        app.command(cls=Command)(_command(name))
        for words, module in TWO_WORDS.items():
            if not named and words[0] == name:  # for the help page and completion
                app.command(" ".join(words), cls=Command)(_command(module))
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


def _check_second_word(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for `schema chek`, unless it is a file of that name."""
    seconds = [second for first, second in TWO_WORDS if [first] == [*arguments[:1]]]
    if not seconds or len(arguments) == 1 or os.path.lexists(arguments[1]):
        return
    from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - for two commands only

    near = nearest(arguments[1], seconds)
    if near:
        raise unknown_command(" ".join(arguments[:2]), [f"{arguments[0]} {near}"])


def command_function(name: str) -> Callable[..., Any]:
    """Return the function of the command `name`, whose module is imported for it."""
    module = import_module(f"{COMMANDS_IN}.{MODULES.get(name, name)}")
    function: Callable[..., Any] = getattr(module, name)
    return function


def _command(name: str) -> Callable[..., None]:
    """Return the function of the command `name` as typer calls it.

    Its parameters are those that the table of options has for it. It ends the process
    with the exit code that the function returns, or with that of the exception that the
    function raises.
    """
    function = command_function(name)

    def command(*, context: typer.Context, **values: Any) -> None:
        with exceptions_to_exit_codes():
            code = function(given_to(name, values, context))
        raise SystemExit(code)

    signature = signature_of(name)
    command.__name__, command.__doc__ = name, function.__doc__
    command.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
    command.__annotations__ = {
        each.name: each.annotation for each in signature.parameters.values()
    }
    return command


def _print_version(requested: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if requested:
        typer.echo(f"harpia-formats {__version__}")
        raise typer.Exit


def _harpia_formats(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Validate, convert and score LLM-evaluation data."""


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
