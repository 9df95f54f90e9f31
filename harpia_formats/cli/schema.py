"""`harpia-formats schema`."""

import json
import sys
from typing import Annotated

import typer

from harpia_formats.cli.guard import UNABLE, complain, guarded, write_to
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.registry import UnknownFormat, formats_named
from harpia_formats.schema.bundled import schema_ids, schema_text


def schema(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A format, or a schema such as report-1.",
            show_default=False,
        ),
    ],
    *,
    dialect: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="That of a dialect of the format."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            metavar="",
            help="The one that says no more than the vendor's document does.",
        ),
    ] = False,
    as_python: Annotated[
        bool,
        typer.Option(
            "--as-python",
            metavar="",
            help="As a Python module that needs the standard library only.",
        ),
    ] = False,
) -> None:
    """Print a schema (JSON Schema, draft-07), or a validator made from it.

    `harpia-formats formats` lists the formats and their dialects.
    """
    with guarded():
        name, of_record = _asked(id_, dialect, strict=strict)
        text = _text(name, of_record)
        write_to(sys.stdout)(_as_python(name, text) if as_python else text)


def _as_python(name: str, text: str) -> str:
    from harpia_formats.schema.to_python import as_python  # noqa: PLC0415 - start-up time

    return as_python(name, json.loads(text))


def _text(name: str, of_record: str) -> str:
    """Return a schema as text: that of the array `of_record` is of its items."""
    text = schema_text(name).decode()
    if not of_record:
        return text
    whole = json.loads(text)
    head = {key: whole[key] for key in ("$schema", "title", "version") if key in whole}
    record = head | whole["properties"][of_record]["items"]
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _asked(asked: str, dialect: str | None, *, strict: bool) -> tuple[str, str]:
    """Return the id of the schema that is asked for, and where it has the records.

    The latter is empty where the schema is that of a record, or of a document.
    """
    try:
        found = formats_named(asked)
    except UnknownFormat:
        if asked not in schema_ids():
            raise
        if dialect is not None or strict:
            reason = "is a schema, and has neither dialects nor a strict form"
            raise _refusal(f"{asked} {reason}") from None
        return asked, ""
    if len(found) > 1:
        ids = ", ".join(each.id for each in found)
        raise _refusal(f"{asked} stands for several formats; name one of them: {ids}")
    chosen = _dialect(found[0], dialect)
    rows_at = chosen.rows_at if chosen.container is Container.ROWS else ""
    return (strict and chosen.strict) or chosen.schema, rows_at


def _dialect(format_: Format, name: str | None) -> Dialect:
    """Return the dialect with this name, the first if none is asked for."""
    for each in format_.dialects:
        if name is None or each.name == name:
            return each
    names = ", ".join(each.name for each in format_.dialects if each.name)
    known = f"known: {names}" if names else "it has only one"
    raise _refusal(f"{format_.id} has no dialect called {name!r} ({known})")


def _refusal(message: str) -> SystemExit:
    """Say why there is no such schema, and return how to end."""
    complain(message)
    return SystemExit(UNABLE)
