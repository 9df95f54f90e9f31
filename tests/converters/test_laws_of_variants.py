"""What holds for the rows and documents of every format, in each of its dialects."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from effort import drawn
from format_variants import (
    VARIANTS,
    Variant,
    documents_of,
    name_of,
    reference_of,
    schema_of,
    streams_of,
)
from harpia_formats import validate
from harpia_formats.api.testing import mutants
from harpia_formats.plugins import Container, Dialect, Remark
from harpia_formats.plugins import Path as Pointer
from json_lines import jsonl
from known_formats import RULES
from problem_codes import codes_of

#: Those whose fixtures are JSON.
OF_JSON = [each for each in VARIANTS if each.dialect.container is not Container.TABLE]
#: Any object is a row of named columns, and MT-Bench's forms share a key.
AMBIGUOUS = {"any", "MT-Bench"}
#: What is no record, or one of nothing.
ODD: list[Any] = [None, True, 1.5, "a", [], ["a", {}], {}, {"": {"": []}}]
STRICT = [each for each in OF_JSON if each.dialect.strict]
#: Those whose remarks are made on what the schema refuses, too, also if called alone.
ROBUST = [
    each
    for each in VARIANTS
    if each.dialect.strict and each.format.vendor != "Haystack"
]
#: Formats of which all that a strict schema refuses is remarked on.
REMARKED = {"haystack", "nemo-input", "nemo-output"}
SCHEMAS = Path(__file__).parents[2] / "schemas"
#: The schemas that are ours, and no copies of a vendor's.
OURS = [
    path
    for path in sorted(SCHEMAS.glob("*/*.schema.json"))
    if path.parent.name not in {"eee", "harpia-formats"}
]


def properties_in(node: Any) -> Iterator[Any]:
    """Yield what a schema says of the members of objects and of array items."""
    if not isinstance(node, dict):
        return
    for key, each in node.items():
        if key in {"properties", "definitions"}:
            if key == "properties":
                yield from each.values()
            for inner in each.values():
                yield from properties_in(inner)
        elif key in {"items", "additionalProperties", "then", "else"}:
            for inner in each if isinstance(each, list) else [each]:
                yield from properties_in(inner)


@for_each_case("path", OURS, ids=lambda each: str(each.name))
def test_schema_explains_itself(path: Path) -> None:
    """A schema says what it is of, in which version, and what each member means.

    Where a condition takes a member up again, it need not say so again.
    """
    schema = json.loads(path.read_bytes())

    assert schema["title"]
    assert schema["description"]
    assert schema["version"]
    members = filter(None, properties_in(schema))
    assert [each for each in members if each is not True and is_unexplained(each)] == []


def is_unexplained(schema: dict[str, Any]) -> bool:
    """Tell whether a member has no description, and is not only taken up again."""
    again = {"$ref", "allOf", "properties", "items", "additionalProperties", "enum"}
    return "description" not in schema and not schema.keys() <= again


def records_of(variant: Variant) -> list[Any]:
    """Return the rows of a variant's fixtures, or their documents as a whole."""
    is_row = variant.dialect.container is Container.ROWS
    return streams_of(variant)[()] if is_row else documents_of(variant)


def is_whole(variant: Variant) -> bool:
    """Tell whether a strict schema states all that is remarked on without a lint.

    The members of Haystack's documents are compared with each other.
    """
    is_columns = variant.dialect.container is Container.COLUMNS
    return variant.format.vendor != "Haystack" or is_columns


def remarks_on(value: Any, path: Pointer, dialect: Dialect) -> list[Remark]:
    """Return the remarks on a row or document that are no lints."""
    is_item = dialect.container is Container.COLUMNS
    found = all_remarks({path[-1]: value} if is_item else value, dialect)
    return [each for each in found if not RULES[each.code].lint]


def all_remarks(value: Any, dialect: Dialect) -> list[Remark]:
    """Return the remarks on a row, or on what is around rows."""
    both = (dialect.remarks, dialect.header_remarks)
    return [each for say in both if say is not None for each in say(value)]


@for_each_case("variant", STRICT, ids=name_of)
def test_strictly_valid_has_no_remark(variant: Variant) -> None:
    """What a strict schema allows is valid in any case, and has no remark.

    In some formats what it refuses is not valid, or has one.
    """
    clean = 0
    for path, rows in parts_of(variant):
        strict, tolerant = (
            reference_of(schema_of(variant, path, strict=each))
            for each in (True, False)
        )
        for row in islice(mutants(rows, 20_250_618), drawn(150)):
            is_clean = tolerant(row) and not remarks_on(row, path, variant.dialect)
            if strict(row):
                clean += 1
                assert is_clean if is_whole(variant) else tolerant(row), row
            else:
                assert not (is_clean and variant.format.id in REMARKED), row

    assert clean > 5


def parts_of(variant: Variant) -> Iterator[tuple[Pointer, list[Any]]]:
    """Yield the rows of a variant, and its documents if they are more than rows."""
    yield from streams_of(variant).items()
    if variant.dialect.header_remarks:
        yield (), documents_of(variant)


@pytest.mark.parametrize("vendor", sorted({each.format.vendor for each in OF_JSON}))
def test_mutants_are_detected_as_one_dialect_at_most(vendor: str) -> None:
    """No object, also a mutated record, is taken for two dialects of one vendor."""
    variants = [each for each in OF_JSON if each.format.vendor == vendor]
    rows = [row for each in variants for row in records_of(each)]
    for row in islice(mutants(rows, 7), drawn(600)):
        if isinstance(row, dict):
            signs = {name_of(each): each.dialect.sniff(row) for each in variants}
            found = list(filter(None, signs.values()))
            assert len(found) <= 1 or vendor in AMBIGUOUS, (row, signs)


@pytest.mark.parametrize("variant", OF_JSON, ids=name_of)
def test_any_value_is_validated(variant: Variant) -> None:
    """No check fails for any value, whether its schema allows it or not."""
    values = [*ODD, *islice(mutants(documents_of(variant), 11), drawn(40))]
    is_line = variant.dialect.container is Container.ROWS
    for data in [jsonl(*values)] if is_line else map(jsonl, values):
        report = validate(data, format=variant.format.id, lint=True, max_problems=0)

        assert "V902" not in codes_of(report)
        assert not report.failures


@for_each_case("variant", ROBUST, ids=name_of)
def test_any_value_is_remarked_on(variant: Variant) -> None:
    """Remarks are made on any value, each by a rule and at a place that is there."""
    is_table = variant.dialect.container is Container.TABLE
    rows = [] if is_table else islice(mutants(records_of(variant), 11), drawn(100))
    for value in [*ODD, *rows]:
        for each in all_remarks(value, variant.dialect):
            place = value
            for step in each.path:
                place = place[step]

            assert each.code in RULES
            assert each.message
            assert not each.at_key or each.path
