from itertools import product
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.formats.detection.candidates import FormatVariant, variants_of
from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import (
    built_in_schema,
    document_schema,
    is_whole,
    item_schema,
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Path

VARIANTS = variants_of(all_formats().values())


def _id_of(value: FormatVariant | bool) -> str:
    """Return what a case is called in a failure."""
    return value.name if isinstance(value, FormatVariant) else str(value)


EVERY = for_each_case("variant", VARIANTS, ids=_id_of)
EVERY_STRICT_OR_NOT = for_each_case(
    "variant, strict", product(VARIANTS, [False, True]), ids=_id_of
)
COLUMNS = {
    "properties": {"a": {"items": {"type": "string"}}, "b": {"type": "array"}},
    "additionalProperties": {"properties": {"c": {"items": False}}},
}


@EVERY_STRICT_OR_NOT
def test_document_schema_is_that_of_the_dialect(
    variant: FormatVariant, strict: bool
) -> None:
    """The schema of a dialect is its own, or with `strict` the documented one."""
    dialect = variant.dialect
    name = dialect.strict if strict and dialect.strict else dialect.schema

    assert document_schema(dialect, strict=strict) == built_in_schema(name)


@EVERY_STRICT_OR_NOT
def test_record_schema_can_judge(variant: FormatVariant, strict: bool) -> None:
    """The schema of a record can be used alone, even if it is part of another."""
    schema = record_schema(variant.dialect, strict=strict)

    assert not schema_validator_of(schema).is_valid(3)


@EVERY
def test_records_of_whole_values_have_the_schema_of_the_document(
    variant: FormatVariant,
) -> None:
    """Only a schema with the records in a member is about several records."""
    dialect = variant.dialect
    is_same = record_schema(dialect) == document_schema(dialect)

    assert is_same == (not dialect.rows_at)


@for_each_case(
    "path, expected",
    [
        (("a",), {"type": "string"}),
        (("b",), True),
        (("z", "c"), False),
        (("z", "d"), True),
        (("z", "d", "e"), True),
    ],
)
def test_item_schema_is_found_by_its_path(path: Path, expected: Any) -> None:
    """The schema of items is found by the name, else in `additionalProperties`."""
    assert item_schema(COLUMNS, path) == expected


@pytest.mark.parametrize("path", [("a",), ("a", "b")])
def test_schema_without_items_accepts_any_item(path: Path) -> None:
    """A schema that does not describe its items accepts any item."""
    assert item_schema(True, path) is True
    assert item_schema({"additionalProperties": False}, path) is True


@EVERY
def test_whole_records_are_values_of_their_own(variant: FormatVariant) -> None:
    """Rows and documents are whole values; wrapped, columns and tables are not."""
    container = variant.dialect.container

    assert is_whole(variant.dialect) == (
        container in {Container.ROWS, Container.DOCUMENT}
    )
