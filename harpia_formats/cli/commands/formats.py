"""`harpia-formats formats`."""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    text_writer,
    write_table,
)
from harpia_formats.formats.registry import (
    FAMILIES,
    installed_formats,
    readable_formats,
)
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.reporters.tables.table import table_of

#: The columns on a terminal.
COLUMNS = ("Format", "Container", "What it is", "Aliases")
PAIR_COLUMNS = ("From", "To", "What is lost")
#: A description of each kind of container.
CONTAINERS = {
    Container.ROWS: "JSON Lines, an array or an object",
    Container.WRAPPED: "an object around an array",
    Container.COLUMNS: "an object of arrays",
    Container.DOCUMENT: "an object",
    Container.TABLE: "a table",
}


def formats(given: Given) -> ExitCode:
    """List the known formats by vendor, with their dialects.

    A family is a name for several formats. `--format FAMILY` validates each file
    against the member that the file is in.

    For example:
    - harpia-formats formats
    - harpia-formats formats --pairs
    - harpia-formats formats --output-format json
    """
    if given.pairs and given.mapping:
        raise UsageError(
            "`--pairs` and `--mapping` cannot be combined; use one of them"
        )
    write_lines, as_object = _write_formats, _formats_as_object
    if given.pairs:
        write_lines, as_object = _write_pairs, _pairs_as_object
    elif given.mapping:
        write_lines, as_object = _write_mapping, _mapping_as_object
    if given.output_format == "text":
        write_lines()
        return ExitCode.OK
    from harpia_formats.model.safe_text import json_text  # noqa: PLC0415 - the table needs no orjson

    text_writer(sys.stdout)(json_text(as_object(), indent=True) + "\n")
    return ExitCode.OK


def _write_formats() -> None:
    write_table(table_of("Formats", COLUMNS, [*_format_rows(), *_family_rows()]))


def _formats_as_object() -> dict[str, Any]:
    formats = [_as_dict(format_) for format_ in installed_formats().values()]
    return {"formats": formats, "families": FAMILIES}


def _write_pairs() -> None:
    from harpia_formats.conversion.losses.format_pair_losses import all_pairs, line_of  # noqa: PLC0415 - only for --pairs

    rows = ((pair.source, pair.target, line_of(pair)) for pair in all_pairs())
    write_table(table_of("Pairs", PAIR_COLUMNS, rows))


def _pairs_as_object() -> dict[str, Any]:
    from harpia_formats.conversion.losses.format_pair_losses import (  # noqa: PLC0415 - only for --pairs
        all_pairs,
        pair_as_dict,
    )

    return {"pairs": [pair_as_dict(pair) for pair in all_pairs()]}


def _write_mapping() -> None:
    from harpia_formats.conversion.losses.field_map_markdown import mapping_page  # noqa: PLC0415 - only for --mapping

    text_writer(sys.stdout)(mapping_page())


def _mapping_as_object() -> dict[str, Any]:
    from harpia_formats.conversion.losses.field_map_markdown import mapping_as_dict  # noqa: PLC0415 - only for --mapping

    return {
        "formats": [mapping_as_dict(format_) for format_ in readable_formats().values()]
    }


def _format_rows() -> Iterator[Sequence[str]]:
    """Yield a heading for each vendor, and below it a row for each dialect."""
    formats = installed_formats().values()
    vendors = [format_.vendor for format_ in formats]
    by_vendor = sorted(formats, key=lambda format_: vendors.index(format_.vendor))
    for vendor, of_vendor in groupby(by_vendor, key=lambda format_: format_.vendor):
        yield (vendor,)
        for format_ in of_vendor:
            for dialect in format_.dialects:
                yield _cells(format_, dialect)


def _cells(format_: Format, dialect: Dialect) -> tuple[str, ...]:
    """Return the cells of a dialect; the first dialect stands for its format."""
    container = CONTAINERS[dialect.container]
    if dialect.container is Container.WRAPPED:
        container += f", {_records_at(dialect)}"
    if dialect is not format_.dialects[0]:
        note = "" if dialect.documented else "not documented by the vendor"
        return f"    ({dialect.name})", container, note, ""
    title = f"{format_.title} (read only)" if format_.read_only else format_.title
    return f"  {format_.id}", container, title, ", ".join(format_.aliases)


def _family_rows() -> Iterator[Sequence[str]]:
    """Yield a heading and below it a row for each family with its members."""
    yield ("families",)
    for name, members in FAMILIES.items():
        yield f"  {name}", "", ", ".join(members), ""


def _as_dict(format_: Format) -> dict[str, Any]:
    """Return a format as plain data for JSON."""
    return {
        "id": format_.id,
        "vendor": format_.vendor,
        "title": format_.title,
        "family": format_.family,
        "aliases": list(format_.aliases),
        "dialects": [_dialect_as_dict(dialect) for dialect in format_.dialects],
        "records": bool(format_.adapter),
        **({"read_only": True} if format_.read_only else {}),
    }


def _records_at(dialect: Dialect) -> str:
    """Return the keys of the records in a document, joined by dots."""
    return ".".join(map(str, dialect.rows_path))


def _dialect_as_dict(dialect: Dialect) -> dict[str, Any]:
    """Return a dialect as plain data for JSON."""
    return {
        "name": dialect.name,
        "container": CONTAINERS[dialect.container],
        "records_at": _records_at(dialect),
        "documented": dialect.documented,
        "schema": dialect.schema,
        "strict_schema": dialect.strict or dialect.schema,
    }
