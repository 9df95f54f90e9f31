"""`harpia-formats detect`."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from harpia_formats.cli.guard import FOUND, OK, UNABLE, complain, guarded, write_to
from harpia_formats.cli.table import Line, write_table
from harpia_formats.detection.result import SCHEMA, Detected, detected_as_dict

#: The columns on a terminal, and which of them holds what more there is to say.
COLUMNS, NOTED = ("Path", "Format", "Sure", "Why", "Container"), 3


class OutputFormat(StrEnum):
    """The ways to say what was found."""

    TEXT = "text"
    JSON = "json"


def detect(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS",
            help="Files, folders or patterns; - is standard input.",
            show_default=False,
        ),
    ],
    *,
    output_format: Annotated[
        OutputFormat, typer.Option(metavar="NAME", help="text or json.")
    ] = OutputFormat.TEXT,
) -> None:
    """Tell which format files are in, how sure that is, and why.

    Only the beginning of a file is read: 1,000 records or 8 MB.

    Exit codes: 0 all are in known formats, 1 some are not, 2 something could not be
    read, 3 a bug in harpia-formats.
    """
    with guarded():
        from harpia_formats import detect as detected  # noqa: PLC0415 - a function of the package

        found = detected(*paths)
        if output_format is OutputFormat.JSON:
            _write_json(found)
        else:
            lines = [_line(each) for each in found if each.format or not each.reason]
            write_table(COLUMNS, lines, noted=NOTED)
        sys.stdout.flush()
        for each in found:
            if each.reason is not None:
                complain(f"{each.path}: {each.reason}")
        raise SystemExit(_exit_code(found))


def _write_json(found: Sequence[Detected]) -> None:
    from harpia_formats.text.json_text import json_text  # noqa: PLC0415 - start-up time

    whole = {"schema": SCHEMA, "files": [detected_as_dict(each) for each in found]}
    write_to(sys.stdout)(json_text(whole, indent=True) + "\n")


def _line(found: Detected) -> Line:
    """Return the line of a file, with what more there is to say of it."""
    # Rounded down: only all of the records make 100 %. But 100 * 0.57 is below 57.
    share = int(round(100 * found.confidence, 6))
    sure = f"{share} %" if found.format else "-"
    cells = (found.path, found.name, sure, found.why, found.container)
    return Line(cells, tuple(_notes(found)))


def _notes(found: Detected) -> list[str]:
    others = [(name, count) for name, count in found.others]
    if found.strangers:
        others.append(("in no known format", found.strangers))
    notes = [f"also {_are(count)} {name}" for name, count in others]
    if found.rival:
        notes.append(f"may be {found.rival} too")
    return [*notes, found.nearest] if found.nearest else notes


def _are(count: int) -> str:
    return "1 record is" if count == 1 else f"{count:,} records are"


def _exit_code(found: Sequence[Detected]) -> int:
    if any(each.reason is not None for each in found):
        return UNABLE
    return OK if all(each.format for each in found) else FOUND
