"""Options of the commands that print what there is: formats, schemas, rules."""

from typing import Annotated

import typer

from harpia_formats.cli.completion.scripts import SCRIPTS
from harpia_formats.cli.options.declare import choice, flag, text
from harpia_formats.cli.options.values import listed, one_of

#: What a command can print: lines for people, or one JSON object.
LISTING_FORMATS = TEXT, JSON = "text", "json"

ListingFormat = Annotated[str, choice(LISTING_FORMATS, "{}.")]
Pairs = Annotated[
    bool, flag("--pairs", "List what is lost between each two formats instead.")
]
Mapping = Annotated[
    bool,
    flag(
        "--mapping",
        "List which key of each format holds which field instead, in Markdown.",
    ),
]
SchemaId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A format, or a schema such as report-1.",
        show_default=False,
    ),
]
DialectName = Annotated[
    str | None,
    text("DIALECT", "Print the schema of this dialect of the format.", "--dialect"),
]
StrictSchema = Annotated[
    bool,
    flag(
        "--strict",
        "Print the schema that accepts only what the vendor's document describes.",
    ),
]
AsPython = Annotated[
    bool,
    flag(
        "--as-python",
        "Print a Python module that validates with the standard library only.",
    ),
]
Shell = Annotated[
    str,
    typer.Argument(
        metavar="SHELL",
        parser=one_of(SCRIPTS),
        help=f"{listed(SCRIPTS)}.",
        show_default=False,
    ),
]
RuleNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RULES", help="Codes, prefixes or names of rules.", show_default=False
    ),
]
ConfigPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH", help="A file or folder; if not given, the working folder."
    ),
]
AllRules = Annotated[
    bool, flag("--all", "List all rules; (--lint) marks those that must be asked for.")
]
