"""Load the built-in schemas; the type of a schema, and the error for a bad one."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from harpia_formats.model.format import Remark
from harpia_formats.schema.bundled import schema_text

#: A draft-07 schema may also be true or false.
Schema = dict[str, Any] | bool


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema of the user that can be used."""

    #: Its file, or "schema".
    name: str
    #: The text of the file, empty without one.
    text: bytes
    #: As it was given.
    original: Schema
    #: With references as pointers into itself.
    schema: Schema
    #: What is doubtful about it.
    remarks: tuple[Remark, ...]


class SchemaError(Exception):
    """A schema that cannot be used; carries its name and the reason."""

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
