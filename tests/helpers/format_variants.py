"""The variants of all formats: the rows and documents of their fixtures, their schemas.

What is compared over all variants is found by these: laws over mutants, and benchmarks.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry

import harpia_converters
from harpia_formats import validate
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.registry import all_formats, dialect_lints
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.plugins import Container, Dialect
from harpia_formats.plugins import Path as Pointer
from known_formats import bundled_schema

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: The codes of vendors' rules, which are about what the vendor's schema allows. Those
#: that begin with C name a condition of the schema, so they are schema errors.
OF_VENDORS = frozenset(
    rule.code for rule in harpia_converters.RULES if not rule.code.startswith("C")
)
#: What the codes of rules begin with that schemas state, among others.
OF_SCHEMAS = ("J", "S", "C", "V")
#: Rules that no schema states: on ids, on the shape of a file, on the label of a shape,
#: and vendors' rules.
NOT_OF_SCHEMAS = ("X", "S201", "S210", "S211", *sorted(OF_VENDORS))
#: Rules on what a file is and that it holds a record, which no schema says either.
ON_FILES = ("S2", "J111")

#: A format in one of its dialects.
Variant = FormatVariant
VARIANTS = variants_of(all_formats().values())


def name_of(variant: FormatVariant) -> str:
    """Return what a variant is called in the output of the tests."""
    return f"{variant.format.id}/{variant.dialect.name}".rstrip("/")


def loads(text: str | bytes) -> Any:
    """Return the value of a JSON text, with null for NaN and Infinity."""
    return json.loads(text, parse_constant=lambda _: None)


def values_in(path: Path) -> list[Any]:
    """Return the JSON values of a fixture."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return [loads(each) for each in text.split("\n") if each.strip()]
    return [loads(text)]


@cache
def valid_values() -> dict[str, list[Any]]:
    """Return the values of all valid fixtures by the name of their variant."""
    found: dict[str, list[Any]] = {}
    for path in sorted(FIXTURES.glob("*/valid/*.json*")):
        (count,) = validate(path, format=path.parts[-3], limit=1).files
        name = f"{count.format}/{count.dialect}".rstrip("/")
        found.setdefault(name, []).extend(values_in(path))
    return found


def documents_of(variant: FormatVariant) -> list[Any]:
    """Return the valid values of a variant as they are in their files."""
    return valid_values()[name_of(variant)]


def streams_of(variant: FormatVariant) -> dict[Pointer, list[Any]]:
    """Return the rows of a variant, by the path at which a document has them."""
    found: dict[Pointer, list[Any]] = {}
    for each in documents_of(variant):
        for path, rows in parts_of(each, variant.dialect):
            found.setdefault(path, []).extend(rows)
    return found


def parts_of(document: Any, dialect: Dialect) -> Iterator[tuple[Pointer, list[Any]]]:
    """Yield the rows of a document, by the path at which it has them."""
    if dialect.container is Container.WRAPPED:
        rows = document
        for key in dialect.rows_path:
            rows = rows[key]
        yield dialect.rows_path, rows
    elif dialect.container is Container.COLUMNS:
        yield from columns_of(document, dialect.depth)
    else:
        yield (), document if isinstance(document, list) else [document]


def columns_of(value: Any, depth: int) -> Iterator[tuple[Pointer, list[Any]]]:
    """Yield the columns of a document by their paths."""
    for key, each in value.items():
        if depth == 1 and isinstance(each, list):
            yield (key,), each
        if depth > 1 and isinstance(each, dict):
            for path, items in columns_of(each, depth - 1):
                yield (key, *path), items


def schema_of(variant: FormatVariant, path: Pointer, *, strict: bool) -> Schema:
    """Return the schema of the rows at `path`, by the file that a variant names."""
    schema = schema_of_document(variant, strict=strict)
    if variant.dialect.rows_at:
        path = variant.dialect.rows_path
    for key in path:
        inner = schema.get("properties", {})
        schema = inner[key] if key in inner else schema.get("additionalProperties", {})
    return schema.get("items", True) if path else schema


def schema_of_document(variant: FormatVariant, *, strict: bool) -> dict[str, Any]:
    """Return the schema that a variant names, the strict one if there is one."""
    dialect = variant.dialect
    return bundled_schema((strict and dialect.strict) or dialect.schema)


def lint_codes(variant: FormatVariant) -> set[str]:
    """Return the codes of a vendor's rules that are checked apart from remarks."""
    lints = dialect_lints(variant.dialect)
    in_rows = {code for each in lints.rows for code in each.codes}
    return in_rows | {each.code for each in lints.across}


def reference_of(schema: Schema) -> Callable[[Any], bool]:
    """Return the verdict of the reference engine."""
    validator = jsonschema.Draft7Validator(schema, registry=Registry())
    return lambda value: bool(validator.is_valid(value))


def with_rows(document: Any, path: Pointer, rows: list[Any]) -> Any:
    """Return `document` with other rows at `path`."""
    if not path:
        return rows
    first, *rest = path
    inner = document.get(first, {}) if rest else None
    return {**document, first: with_rows(inner, tuple(rest), rows)}


def modes_of(variant: FormatVariant) -> tuple[bool, ...]:
    """Return the ways to hold a file to a variant; its own strict one, if it has one.

    A file in a dialect that is not documented is refused as a whole if strict.
    """
    return (False, True) if variant.dialect.documented else (False,)
