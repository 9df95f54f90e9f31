"""The classes of commands that typer makes: their help pages and their mistakes."""

import sys
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size
from typing import Any

from typer import echo
from typer.core import TyperCommand, TyperGroup

from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import Option, options_of
from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.program.values import with_converter

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
    "view": "head",
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
        from harpia_formats.cli.program.help_page import summary  # noqa: PLC0415 - for help only

        commands = [
            (name, summary(command.help or ""))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        formatter.write(_page(self, ctx, commands))


def unknown_command(asked: str, names: Sequence[str]) -> UsageError:
    """Return the error for a command that does not exist, with the nearest name."""
    from harpia_formats.model.text.spelling import hint_on  # noqa: PLC0415 - for mistakes only

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
    from harpia_formats.cli.output.terminal import wants_color  # noqa: PLC0415 - for help only
    from harpia_formats.cli.program.help_page import (  # noqa: PLC0415 - for help only
        Style,
        argument_name,
        help_page,
    )

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
