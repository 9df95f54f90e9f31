"""The commands in one table."""

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer

from harpia_formats._version import __version__
from harpia_formats.cli.exceptions import exceptions_to_exit_codes
from harpia_formats.cli.exit_codes import ExitCode

#: Each command is the function of that name in the module `commands` has of that name.
COMMANDS = (
    "validate",
    "convert",
    "roundtrip",
    "diff",
    "score",
    "judge",
    "detect",
    "formats",
    "schema",
    "rule",
    "config",
)
#: Commands of two words, each with its module in `commands`.
TWO_WORDS = {
    ("schema", "check"): "schema_check",
    ("schema", "infer"): "schema_infer",
    ("score", "compare"): "score_compare",
}


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the one command that `arguments` begin with.

    It has all commands if `arguments` begin with none of them. Other commands are not
    imported, so that each starts as fast as it can.
    """
    app = typer.Typer(
        name="harpia-formats",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_harpia_formats)
    if tuple(arguments[:2]) in TWO_WORDS:
        first, second = arguments[:2]
        group = typer.Typer(add_completion=False)
        group.command(second)(_command(TWO_WORDS[first, second]))
        app.add_typer(group, name=first)
        return app
    named = [name for name in arguments[:1] if name in COMMANDS]
    for name in named or COMMANDS:
        app.command()(_command(name))
    return app


def _command(name: str) -> Callable[..., None]:
    """Return the function `name` of the module `commands.name` as typer calls it.

    It ends the process with the exit code that the function returns, or with that of
    the exception that the function raises.
    """
    module = import_module(f"harpia_formats.cli.commands.{name}")
    function: Callable[..., ExitCode] = getattr(module, name)

    @wraps(function)
    def command(**arguments: Any) -> None:
        with exceptions_to_exit_codes():
            code = function(**arguments)
        raise SystemExit(code)

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
