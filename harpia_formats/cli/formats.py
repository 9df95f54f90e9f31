"""`harpia-formats formats`."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any

import typer

from harpia_formats.cli.guard import UNABLE, complain, guarded, write_to
from harpia_formats.cli.table import Line, write_table
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.registry import FAMILIES, all_formats, readable_formats

#: The columns on a terminal.
COLUMNS = ("Format", "Container", "What it is", "Aliases")
PAIR_COLUMNS = ("From", "To", "What is lost")
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
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            metavar="",
            help="What is lost from each record format to each other one.",
        ),
    ] = False,
    mapping: Annotated[
        bool,
        typer.Option(
            "--mapping",
            metavar="",
            help="Which key of each record format is which field, in Markdown.",
        ),
    ] = False,
) -> None:
    """List the formats that are known, vendor by vendor, with their dialects.

    A family is a name for several formats: --format takes it for whichever of them a
    file is in.
    """
    with guarded():
        if pairs and mapping:
            complain("--pairs and --mapping are two tables; ask for one of them")
            raise SystemExit(UNABLE)
        as_text, as_object = _listing
        if pairs:
            as_text, as_object = _pairs_listing
        elif mapping:
            as_text, as_object = _mapping_listing
        if output_format is OutputFormat.TEXT:
            as_text()
            return
        from harpia_formats.text.json_text import json_text  # noqa: PLC0415 - start-up time

        write_to(sys.stdout)(json_text(as_object(), indent=True) + "\n")


def _formats_as_text() -> None:
    write_table(COLUMNS, [*_lines(), *_family_lines()])


def _formats_as_object() -> dict[str, Any]:
    formats = [_as_dict(each) for each in all_formats().values()]
    return {"formats": formats, "families": FAMILIES}


def _pairs_as_text() -> None:
    from harpia_formats.conversion.losses.by_format_pair import line_of, pairs  # noqa: PLC0415 - start-up time

    lines = [Line((each.source, each.target, line_of(each))) for each in pairs()]
    write_table(PAIR_COLUMNS, lines)


def _pairs_as_object() -> dict[str, Any]:
    from harpia_formats.conversion.losses.by_format_pair import pair_as_dict, pairs  # noqa: PLC0415 - start-up time

    return {"pairs": [pair_as_dict(each) for each in pairs()]}


def _mapping_as_text() -> None:
    from harpia_formats.conversion.losses.field_map_markdown import mapping_page  # noqa: PLC0415 - start-up time

    write_to(sys.stdout)(mapping_page())


def _mapping_as_object() -> dict[str, Any]:
    from harpia_formats.conversion.losses.field_map_markdown import mapping_as_dict  # noqa: PLC0415 - start-up time

    return {"formats": [mapping_as_dict(each) for each in readable_formats().values()]}


#: How each of the tables is written, for people and for programs.
_listing = _formats_as_text, _formats_as_object
_pairs_listing = _pairs_as_text, _pairs_as_object
_mapping_listing = _mapping_as_text, _mapping_as_object


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
