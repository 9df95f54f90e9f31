"""Options of `harpia-formats preflight`."""

from typing import Annotated

import typer

from harpia_formats.cli.options.common import output
from harpia_formats.cli.options.declare import flag, text

#: The file that is read if none is named.
DEFAULT = "preflight.toml"

PreflightFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help=f"The preflight file, {DEFAULT} if not given; with --init the data files.",
        show_default=False,
    ),
]
Variables = Annotated[
    list[str] | None,
    text(
        "NAME=VALUE",
        "Value of ${NAME} in the texts of the preflight file (repeatable).",
        "--var",
    ),
]
PreflightDryRun = Annotated[
    bool, flag("--dry-run", "Show files and expectations, and check nothing.")
]
Init = Annotated[
    bool, flag("--init", "Write a preflight file that the data files meet, to edit it.")
]
InitOutput = Annotated[str | None, output(" Only with --init.")]
