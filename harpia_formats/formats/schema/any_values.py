"""Tell from a schema that objects are valid, whatever texts or lists they have."""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.formats.schema.decoder_types import ANNOTATIONS
from harpia_formats.formats.schema.load import Schema

#: Keywords of an object that are known here.
_of_object = ANNOTATIONS | {
    "type",
    "required",
    "properties",
    "additionalProperties",
    "minProperties",
}


def allows_any(schema: Schema, columns: Sequence[str], kind: str = "string") -> bool:
    """Return whether every object with just these keys and values of `kind` is valid.

    `kind` is a type of JSON. It may only accept: False if a column is named twice, or
    the schema has any other keyword.
    """
    if len(set(columns)) < len(columns):
        return False
    if not isinstance(schema, dict):
        return schema
    if not schema.keys() <= _of_object or "object" not in _types_of(schema, "object"):
        return False
    if not set(schema.get("required", ())) <= set(columns):
        return False
    if schema.get("minProperties", 0) > len(columns):
        return False
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    return all(_allows_any_value(known.get(name, rest), kind) for name in columns)


def _allows_any_value(schema: Any, kind: str) -> bool:
    """Return whether every value of the type `kind` is valid by a schema."""
    if not isinstance(schema, dict):
        return schema is True
    is_known = schema.keys() <= ANNOTATIONS | {"type"}
    return is_known and kind in _types_of(schema, kind)


def _types_of(schema: Mapping[str, Any], wanted: str) -> Sequence[str]:
    """Return the types that a schema allows, `wanted` among them if it names none."""
    types = schema.get("type", wanted)
    return [types] if isinstance(types, str) else types
