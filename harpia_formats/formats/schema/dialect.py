"""The schemas of a dialect: of its document, its records, and items of an array."""

from typing import Any

from harpia_formats.formats.schema.load import Schema, built_in_schema
from harpia_formats.model.format import Container, Dialect
from harpia_formats.model.problem import Path


def document_schema(dialect: Dialect, *, strict: bool = False) -> dict[str, Any]:
    """Return the whole schema of a dialect; `strict` selects the documented one."""
    return built_in_schema((strict and dialect.strict) or dialect.schema)


def record_schema(dialect: Dialect, *, strict: bool = False) -> Schema:
    """Return the schema of a single record of a dialect."""
    schema = document_schema(dialect, strict=strict)
    return item_schema(schema, dialect.rows_path) if dialect.rows_at else schema


def item_schema(schema: Schema, path: Path) -> Schema:
    """Return the part of `schema` for the items of the array at `path`.

    True if it says nothing about them.
    """
    for step in path:
        if not isinstance(schema, dict):
            return True
        rest = schema.get("additionalProperties", True)
        schema = schema.get("properties", {}).get(step, rest)
    return schema.get("items", True) if isinstance(schema, dict) else True


def is_whole(dialect: Dialect) -> bool:
    """Tell whether a record of a dialect is a value of its own, not part of another."""
    return dialect.container in {Container.ROWS, Container.DOCUMENT}
