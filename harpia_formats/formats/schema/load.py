"""Load the built-in schemas; the type of a schema, and the error for a bad one."""

from functools import cache
from typing import Any

import msgspec

from harpia_formats.formats.schema.bundled import schema_text
from harpia_formats.model.errors import HarpiaFormatsError

#: A draft-07 schema may also be true or false.
Schema = dict[str, Any] | bool


class SchemaError(HarpiaFormatsError):
    """A schema that cannot be used; carries its name and the reason."""

    hides_values = True

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@cache
def built_in_schema(identifier: str) -> dict[str, Any]:
    """Return the schema that ships for a format id, such as `eee@0.2.0`."""
    schema: dict[str, Any] = msgspec.json.decode(schema_text(identifier))
    return schema
