"""Functions that declare options of one kind alike."""

from collections.abc import Collection
from typing import Any

import typer

from harpia_formats.cli.options.values import listed, one_of

#: The headings of the help pages that several modules of options use.
READING, MISSING = "Reading", "Missing values"


def flag(
    name: str,
    help_text: str,
    *,
    short: str = "",
    panel: str | None = None,
    is_setting: bool = False,
) -> Any:
    """Return the declaration of an option that is given or not, without a value.

    `name` is the long form, such as `--quiet`, `short` the form with one letter, and
    `panel` the heading of the help page below which the option stands. An option that
    is a setting as well can be turned off, with `--no-` before its name.
    """
    if is_setting:
        name = f"{name}/--no-{name.removeprefix('--')}"
    names = [name, short] if short else [name]
    return typer.Option(*names, metavar="", help=help_text, rich_help_panel=panel)


def choice(
    choices: Collection[str], help_text: str, *, panel: str | None = None
) -> Any:
    """Return the declaration of an option whose value is one of `choices`.

    They are listed in its help in place of `{}`.
    """
    return typer.Option(
        metavar="NAME",
        parser=one_of(choices),
        help=help_text.format(listed(choices)),
        rich_help_panel=panel,
    )


def text(metavar: str, help_text: str, *names: str, panel: str | None = None) -> Any:
    """Return the declaration of an option whose value is text or a path.

    It is called like its parameter, if there are no `names`.
    """
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


def number(
    help_text: str, *, least: int = 0, most: int | None = None, panel: str | None = None
) -> Any:
    """Return the declaration of an option whose value is a whole number in a range."""
    return typer.Option(
        metavar="N", min=least, max=most, help=help_text, rich_help_panel=panel
    )
