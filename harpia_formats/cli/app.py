"""The commands in one table."""

from typing import Annotated

import typer

from harpia_formats import __version__
from harpia_formats.cli.rule import rule
from harpia_formats.cli.validate import validate

app = typer.Typer(
    name="harpia-formats",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    if asked:
        typer.echo(f"harpia-formats {__version__}")
        raise typer.Exit


@app.callback()
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


app.command()(validate)
app.command()(rule)
