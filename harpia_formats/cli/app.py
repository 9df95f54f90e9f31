"""The commands in one table."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from harpia_formats._version import __version__
from harpia_formats.cli.exceptions import exceptions_to_exit_codes
from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import given_to, signature_of
from harpia_formats.cli.program.command import HELP, Command, Group, unknown_command

PROGRAM = "harpia-formats"
COMMANDS_IN = "harpia_formats.cli.commands"
#: Each command is the function of that name in the module of that name there.
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
    "detect",
    "formats",
    "schema",
    "rule",
    "config",
    "completion",
)
#: Commands of two words, each with its module in `commands`.
TWO_WORDS = {
    ("schema", "check"): "schema_check",
    ("schema", "infer"): "schema_infer",
    ("score", "compare"): "score_compare",
    ("score", "agreement"): "score_agreement",
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
        from harpia_formats.cli.program.mistakes import print_mistake  # noqa: PLC0415 - for mistakes only

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
    from harpia_formats.model.text.spelling import nearest  # noqa: PLC0415 - for two commands only

    near = nearest(arguments[1], seconds)
    if near:
        raise unknown_command(" ".join(arguments[:2]), [f"{arguments[0]} {near}"])


def _command(name: str) -> Callable[..., None]:
    """Return the function `name` of the module `commands.name` as typer calls it.

    Its parameters are those that the table of options has for it. It ends the process
    with the exit code that the function returns, or with that of the exception that the
    function raises.
    """
    function = getattr(import_module(f"{COMMANDS_IN}.{name}"), name)

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
