"""`harpia-formats schema`."""

import json
import sys
from typing import Any

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.streams import text_writer
from harpia_formats.formats.registry import UnknownFormat, formats_named
from harpia_formats.formats.schema.bundled import schema_ids, schema_text
from harpia_formats.formats.schema.dialect import item_schema
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import Path


def schema(given: Given) -> ExitCode:
    """Print a JSON Schema (draft-07), or a Python validator made from it.

    `harpia-formats formats` lists the formats and their dialects.
    `harpia-formats schema check FILE` finds mistakes in schemas, and
    `harpia-formats schema infer FILE` writes a schema of rows that have none.

    For example:
    - harpia-formats schema eee
    - harpia-formats schema nemo-output --strict
    - harpia-formats schema harpia --as-python
    """
    name, rows_path = _schema_of(given.id_, given.dialect, strict=given.strict)
    content = _record_schema(name, rows_path) if rows_path else _schema_text(name)
    if given.as_python:
        from harpia_formats.formats.schema.to_python import as_python as to_python  # noqa: PLC0415 - only for --as-python

        content = to_python(name, json.loads(content))
    text_writer(sys.stdout)(content)
    return ExitCode.OK


def _schema_text(name: str) -> str:
    return schema_text(name).decode()


def _record_schema(name: str, rows_path: Path) -> str:
    """Return the schema of one record, from that of a document with records."""
    document = json.loads(schema_text(name))
    kept = ("$schema", "title", "version")
    head = {key: document[key] for key in kept if key in document}
    item: Any = item_schema(document, rows_path)
    record = head | item
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _schema_of(asked: str, dialect: str | None, *, strict: bool) -> tuple[str, Path]:
    """Return the id of the schema of a format, and the path of records in a document.

    The path is () if the schema is that of a record or of a whole document. `asked`
    may be the id of a schema, too. Raises `UnknownFormat` and `UsageError`.
    """
    try:
        formats = formats_named(asked)
    except UnknownFormat:
        if asked not in schema_ids():
            raise
        if dialect is not None or strict:
            reason = "is a schema: --dialect and --strict are for formats"
            raise UsageError(f"{asked} {reason}") from None
        return asked, ()
    if len(formats) > 1:
        ids = ", ".join(format_.id for format_ in formats)
        raise UsageError(f"{asked} stands for several formats; name one of them: {ids}")
    chosen = _dialect_of(formats[0], dialect)
    rows_path = chosen.rows_path if chosen.container is Container.ROWS else ()
    return (strict and chosen.strict) or chosen.schema, rows_path


def _dialect_of(format_: Format, name: str | None) -> Dialect:
    """Return the dialect with this name, the first one if `name` is None.

    Raises `UsageError` if the format has no such dialect.
    """
    for dialect in format_.dialects:
        if name is None or dialect.name == name:
            return dialect
    from harpia_formats.model.text.spelling import hint_on  # noqa: PLC0415 - for mistakes only

    names = [dialect.name for dialect in format_.dialects if dialect.name]
    hint = hint_on(name or "", names) or " (it has only one)"
    raise UsageError(f"{format_.id} has no dialect called {name!r}{hint}")
