"""The built-in formats and rules as they are registered, and the schemas of formats.

Tests that hold for every format, rule or schema find them here, so that a new one is
tested without being named.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import harpia_converters
from harpia_formats.formats import registry
from harpia_formats.formats.schema import bundled_schemas
from harpia_formats.plugins import Dialect, Format, FormatAdapter, Rule

if TYPE_CHECKING:
    import jsonschema_rs

#: Every built-in format by its id.
FORMATS: Mapping[str, Format] = {each.id: each for each in harpia_converters.FORMATS}
#: Those that are read as records, and those that records are written to.
READABLE: Mapping[str, Format] = registry.readable_formats()
WRITABLE: Mapping[str, Format] = registry.writable_formats()
#: Every built-in rule by its code.
RULES: Mapping[str, Rule] = registry.all_rules()


def adapter_named(format_id: str) -> FormatAdapter:
    """Return the adapter of the format with this id, which is read as records."""
    return registry.adapter_of(FORMATS[format_id])


def bundled_schema(schema_id: str) -> dict[str, Any]:
    """Return the schema that ships with this id, such as `eee@0.2.0`."""
    return bundled_schemas.built_in_schema(schema_id)


def row_schema(dialect: Dialect, *, strict: bool = False) -> Any:
    """Return the schema of one row of a dialect."""
    return bundled_schemas.record_schema(dialect, strict=strict)


@cache
def row_validator(
    dialect: Dialect, *, strict: bool = False
) -> "jsonschema_rs.Draft7Validator":
    """Return the schema validator of the rows of a dialect."""
    return bundled_schemas.schema_validator_of(row_schema(dialect, strict=strict))
