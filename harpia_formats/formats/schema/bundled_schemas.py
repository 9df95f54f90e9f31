"""The built-in schemas and those of plug-ins, and the schema validator of a schema."""

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.files.io.reader import schema_folder
from harpia_formats.formats.extensions import packaged_schema
from harpia_formats.model.format import Container, Dialect
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.problem import Path as ValuePath

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable
    from pathlib import Path

    import jsonschema_rs


_SUFFIX = ".schema.json"


@cache
def schema_ids() -> tuple[str, ...]:
    """Return the id of every schema, such as `eee@0.2.0` or `report-1`, sorted."""
    return tuple(sorted(_files()))


def schema_text(identifier: str) -> bytes:
    """Return the text of the schema with this id.

    It is one of `schema_ids`, or `package:name` for the file `name.schema.json` in the
    Python package of a plug-in.
    """
    if ":" in identifier:
        return packaged_schema(identifier)
    return _files()[identifier].read_bytes()


@cache
def _files() -> "dict[str, Path | Traversable]":
    """Return the file of each schema by its id; each vendor has a folder."""
    return {
        file.name.removesuffix(_SUFFIX): file
        for folder in schema_folder().iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
    }


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


def document_schema(dialect: Dialect, *, strict: bool = False) -> dict[str, Any]:
    """Return the whole schema of a dialect; `strict` selects the documented one."""
    return built_in_schema((strict and dialect.strict) or dialect.schema)


def record_schema(dialect: Dialect, *, strict: bool = False) -> Schema:
    """Return the schema of a single record of a dialect."""
    schema = document_schema(dialect, strict=strict)
    return item_schema(schema, dialect.rows_path) if dialect.rows_at else schema


def without_exception(schema: Schema) -> Schema:
    """Return `schema` without an `if` that stands next to required keys in its `anyOf`.

    The keys are always required by it, so that it may only refuse more.
    """
    if not isinstance(schema, dict):
        return schema
    match schema.get("anyOf"):
        case [{"required": keys, **more}, {"if": _}] if not more:
            rest = {key: value for key, value in schema.items() if key != "anyOf"}
            return rest | {"required": [*rest.get("required", ()), *keys]}
    return schema


def item_schema(schema: Schema, path: ValuePath) -> Schema:
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


#: What stands for a value in the messages of the schema validator.
MASK = "…"


def schema_validator_of(
    schema: Schema, *, formats: bool = False
) -> "jsonschema_rs.Draft7Validator":
    """Return the schema validator for `schema`; `formats` checks the keyword `format`.

    Patterns run in linear time, unless one needs look-around or back-references: then
    the engine with backtracking is used, which may give up. Its messages do not show
    the record, since they are not used and take long to write. Raises
    `jsonschema_rs.ValidationError` or `ValueError` if the schema cannot be used.
    """
    import jsonschema_rs  # noqa: PLC0415 - commands that only print schemas: start-up time

    try:
        return jsonschema_rs.Draft7Validator(
            schema,
            offline=True,
            validate_formats=formats,
            mask=MASK,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError:
        return jsonschema_rs.Draft7Validator(
            schema, offline=True, validate_formats=formats, mask=MASK
        )
