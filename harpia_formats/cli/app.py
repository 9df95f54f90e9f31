"""The commands in one table."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from harpia_formats._version import __version__

#: Each command is the function of that name in the module of that name.
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
)


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that `words` begin with.

    Where they begin with none it has all of them. Others are not imported, so that
    each command starts as fast as it can.
    """
    app = typer.Typer(
        name="harpia-formats",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_harpia_formats)
    if tuple(words[:2]) == ("score", "compare"):
        return _with_comparison(app)
    asked = [each for each in words[:1] if each in COMMANDS]
    for each in asked or COMMANDS:
        app.command()(getattr(import_module(f"harpia_formats.cli.{each}"), each))
    return app


def _with_comparison(app: typer.Typer) -> typer.Typer:
    """Return the command line with the command `score compare`."""
    from harpia_formats.cli.compare import compare  # noqa: PLC0415 - if asked for

    group = typer.Typer(add_completion=False)
    group.command("compare")(compare)
    app.add_typer(group, name="score")
    return app


def _print_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    if asked:
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
    """Validate LLM-evaluation data, with line, column and reason."""
