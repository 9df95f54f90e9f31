"""`harpia-formats formats`."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any

import typer

from harpia_formats.cli.guard import guarded, write_to
from harpia_formats.cli.table import Line, write_table
from harpia_formats.format import Container, Dialect, Format
from harpia_formats.registry import FAMILIES, all_formats

#: The columns on a terminal.
COLUMNS = ("Format", "Container", "What it is", "Aliases")
#: What a file of each container is, in words.
CONTAINERS = {
    Container.ROWS: "JSON Lines, an array or an object",
    Container.WRAPPED: "an object around an array",
    Container.COLUMNS: "an object of arrays",
    Container.DOCUMENT: "an object",
    Container.TABLE: "a table",
}


class OutputFormat(StrEnum):
    """The ways to list the formats."""

    TEXT = "text"
    JSON = "json"


def formats(
    *,
    output_format: Annotated[
        OutputFormat, typer.Option(metavar="NAME", help="text or json.")
    ] = OutputFormat.TEXT,
) -> None:
    """List the formats that are known, vendor by vendor, with their dialects.

    A family is a name for several formats: --format takes it for whichever of them a
    file is in.
    """
    with guarded():
        if output_format is OutputFormat.TEXT:
            write_table(COLUMNS, [*_lines(), *_family_lines()])
            return
        from harpia_formats.reporters.json_text import json_text  # noqa: PLC0415 - start-up time

        whole = {
            "formats": [_as_dict(each) for each in all_formats().values()],
            "families": FAMILIES,
        }
        write_to(sys.stdout)(json_text(whole, indent=True) + "\n")


def _lines() -> Iterator[Line]:
    """Yield a heading for each vendor, and below it a line for each dialect."""
    by_vendor = sorted(all_formats().values(), key=_place_of_vendor)
    for vendor, of_vendor in groupby(by_vendor, key=lambda each: each.vendor):
        yield Line((vendor,))
        for each in of_vendor:
            for dialect in each.dialects:
                yield Line(_cells(each, dialect))


def _place_of_vendor(format_: Format) -> int:
    vendors = [each.vendor for each in all_formats().values()]
    return vendors.index(format_.vendor)


def _cells(format_: Format, dialect: Dialect) -> tuple[str, ...]:
    """Return what is to be said of a dialect; of the first, of its format too."""
    container = CONTAINERS[dialect.container]
    if dialect.container is Container.WRAPPED:
        container += f", {dialect.rows_at}"
    if dialect is not format_.dialects[0]:
        note = "" if dialect.documented else "not documented by the vendor"
        return f"    ({dialect.name})", container, note, ""
    return f"  {format_.id}", container, format_.title, ", ".join(format_.aliases)


def _family_lines() -> Iterator[Line]:
    yield Line(("families",))
    for name, members in FAMILIES.items():
        yield Line((f"  {name}", "", ", ".join(members), ""))


def _as_dict(format_: Format) -> dict[str, Any]:
    return {
        "id": format_.id,
        "vendor": format_.vendor,
        "title": format_.title,
        "family": format_.family,
        "aliases": list(format_.aliases),
        "dialects": [_dialect_as_dict(each) for each in format_.dialects],
    }


def _dialect_as_dict(dialect: Dialect) -> dict[str, Any]:
    return {
        "name": dialect.name,
        "container": CONTAINERS[dialect.container],
        "records_at": dialect.rows_at,
        "documented": dialect.documented,
        "schema": dialect.schema,
        "strict_schema": dialect.strict or dialect.schema,
    }
