"""Laws of the causes of a record: any record, any schema, remembered and in parts."""

import json
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from effort import drawn, examples
from format_variants import FIXTURES, VARIANTS, name_of, values_in
from harpia_formats import SchemaError
from harpia_formats.api.testing.mutation import POOL
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.schema.bundled_schemas import (
    document_schema,
    is_whole,
    schema_validator_of,
)
from harpia_formats.formats.schema.user_schema import check_schema
from harpia_formats.model.format import no_advice
from harpia_formats.plugins import Advice, Container, mutants
from harpia_formats.plugins import Path as Steps
from harpia_formats.validation.diagnosis import cached_causes
from harpia_formats.validation.diagnosis.cached_causes import CachedCauses
from harpia_formats.validation.diagnosis.engine_errors import value_at
from harpia_formats.validation.diagnosis.messages import problem_of
from harpia_formats.validation.diagnosis.root_causes import Cause, Finding, root_causes
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit import wide_records
from harpia_formats.validation.unit.findings import FINDINGS, is_wide
from harpia_formats.validation.unit.wide_records import WideErrors
from known_formats import RULES, row_schema

#: The variants of formats whose records are JSON.
OF_JSON = [
    variant for variant in VARIANTS if variant.dialect.container is not Container.TABLE
]
of_each_variant = pytest.mark.parametrize("variant", OF_JSON, ids=name_of)


def schema_of(variant: Any) -> Any:
    """Return the schema of a record, or of a document that has no list of records."""
    schema = row_schema if is_whole(variant.dialect) else document_schema
    return schema(variant.dialect)


def records_of(variant: Any) -> list[Any]:
    """Return the records of the valid fixtures of a variant's format."""
    paths = sorted((FIXTURES / variant.format.id / "valid").iterdir())
    values = [value for path in paths for value in values_in(path)]
    return [
        row for value in values for row in (value if type(value) is list else [value])
    ]


def takes_any_member(variant: Any) -> bool:
    """Return whether rows may have any keys with any values."""
    schema = schema_of(variant)
    schema_validator = schema_validator_of(schema)
    return "properties" not in schema and all(
        schema_validator.is_valid({"key": value}) for value in POOL
    )


def enough_of(variant: Any, count: int) -> int:
    """Return how many of so many mutants must be refused, so that much is tested.

    Where rows may have any members, only mutants that are no objects are refused.
    """
    return count // (50 if takes_any_member(variant) else 5)


def laws_hold(variant: Any, records: Iterator[Any]) -> int:
    """Check the laws on each record, and return how many of them are refused."""
    schema, advise = schema_of(variant), variant.format.advise
    schema_validator, refused = schema_validator_of(schema), 0
    for record in records:
        causes = root_causes(
            record, schema_validator.iter_errors(record), schema, advise
        )
        assert bool(causes) != schema_validator.is_valid(record), record
        refused += bool(causes)
        text = json.dumps(record, ensure_ascii=False).encode()
        for cause in causes:
            check_cause(cause, text, record, schema)
    return refused


def check_cause(cause: Cause, text: bytes, record: Any, schema: Any) -> None:
    """Check that a cause has a value in the record, and a message with a place."""
    value_at(record, cause.path)
    row = RowContext("f", text, Cursor(), 1, record, "sample_id")
    problem = problem_of(
        Finding(cause.code, 0, cause, record), RULES[cause.code], row, schema
    )
    place, excerpt = problem.place, problem.excerpt
    assert 0 <= place.byte_offset < len(text)
    assert len(problem.message) < 1_000
    assert excerpt is not None
    assert 0 <= excerpt.start < excerpt.end <= len(excerpt.text)


def allowed(variant: Any) -> list[Any]:
    """Return the records of a variant's format that its schema allows."""
    is_valid = schema_validator_of(schema_of(variant)).is_valid
    return [row for row in records_of(variant) if is_valid(row)]


@of_each_variant
def test_laws(variant: Any) -> None:
    """Invalid records have causes, each with a message; valid ones have none."""
    count = drawn(250)
    records = islice(mutants(allowed(variant), 20_260_214), count)

    assert laws_hold(variant, records) > enough_of(variant, count)


@pytest.mark.long
@of_each_variant
def test_laws_at_length(variant: Any) -> None:
    """The laws hold for twenty thousand mutants of each format."""
    records = islice(mutants(allowed(variant), 20_260_804), 20_000)

    assert laws_hold(variant, records) > enough_of(variant, 20_000)


NAMES = st.sampled_from(["a", "b", "", "1", "01", "then", "items", "properties"])
ANY_VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2.5, 10**30, "", "a", "aa"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = st.sampled_from("null boolean integer number string array object".split())


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas of one or a few keywords that hold others."""
    by_name = st.dictionaries(NAMES, inner, min_size=1, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": by_name,
            "patternProperties": st.dictionaries(st.just("a"), inner),
            "additionalProperties": inner,
            "items": inner | several,
            "additionalItems": inner,
            "dependencies": by_name
            | st.dictionaries(NAMES, st.lists(NAMES, max_size=1)),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "contains": inner,
            "propertyNames": inner,
            "required": st.lists(NAMES, max_size=2, unique=True),
        },
    )


ANY_SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({"type": st.lists(TYPES, min_size=1, unique=True)})
    | st.fixed_dictionaries({"const": ANY_VALUES})
    | st.fixed_dictionaries({"enum": st.lists(ANY_VALUES, min_size=1, max_size=2)})
    | st.sampled_from(
        [
            {"minimum": 1},
            {"maxLength": 1},
            {"pattern": "^a$"},
            {"maxItems": 1},
            {"uniqueItems": True},
            {"minProperties": 2},
            {"multipleOf": 2},
            {"$ref": "#/definitions/d"},
        ]
    ),
    larger,
    max_leaves=8,
)


@given(larger(ANY_SCHEMAS), larger(ANY_SCHEMAS), ANY_VALUES)
@examples(15, suppress_health_check=[HealthCheck.too_slow])
def test_laws_for_any_schema(schema: Any, definition: Any, record: Any) -> None:
    """The laws hold for schemas of every kind, references included."""
    schema = schema | {"definitions": {"d": definition}}
    try:
        check_schema("any", schema)
    except SchemaError:
        assume(condition=False)
    schema_validator = schema_validator_of(schema)

    causes = root_causes(
        record, schema_validator.iter_errors(record), schema, no_advice
    )

    assert bool(causes) != schema_validator.is_valid(record)
    for cause in causes:
        check_cause(cause, json.dumps(record).encode(), record, schema)


#: Schemas with causes that depend on more than the paths of errors.
SCHEMAS: tuple[Any, ...] = tuple(
    json.loads(group["schema"])
    for group in json.loads(
        Path(__file__).with_name("expected_findings.json").read_bytes()
    )
    if group["about"] == "causes that depend on more than the paths of errors"
)
KEYS = st.sampled_from(["name", "nmae", "kind", "call", "", "1", "01", "+1"])
LEAVES: st.SearchStrategy[Any] = st.sampled_from([None, 1, 2, "tool", "a", [], {}])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=8,
)


def advice_by_name(pointer: str, path: Steps, record: Any) -> Advice | None:
    """Return advice that depends on the record, as that of formats may."""
    if isinstance(record, dict) and record.get("name") is not None:
        return Advice("C101", f"{pointer} {path} {record['name']!r}")
    return None


def check_cached_causes(schema: Any, advise: Any, records: list[Any]) -> int:
    """Assert that cached causes equal computed ones; return how many there are."""
    schema_validator, cached, count = (
        schema_validator_of(schema),
        CachedCauses(schema, advise),
        0,
    )
    with (
        patch.object(cached_causes, "ENOUGH", 2),
        patch.object(cached_causes, "COMPARED", 64),
    ):
        for record in records * 3:
            errors = list(schema_validator.iter_errors(record))
            expected = list(root_causes(record, errors, schema, advise))
            by_pattern = cached.causes_by_pattern(record)
            assert by_pattern is None or (errors and list(by_pattern) == expected)
            found = cached.causes_of(record, errors)
            assert list(found) == expected, record
            count += len(found)
    return count


@examples(75)
@given(st.sampled_from(SCHEMAS), st.lists(VALUES, max_size=12))
def test_cache_changes_no_cause(schema: Any, records: list[Any]) -> None:
    """A record has the same causes after any other records."""
    check_cached_causes(schema, advice_by_name, records)


@of_each_variant
def test_cache_changes_no_cause_of_a_format(variant: Any) -> None:
    """Mutated records of each format keep their causes, and the format's advice."""
    records = list(islice(mutants(records_of(variant), 8), drawn(25)))

    assert check_cached_causes(schema_of(variant), variant.format.advise, records)


def made_row(random: Random, depth: int = 0) -> Any:
    """Return a value with large containers in large containers."""
    kind = random.random()
    if depth > 3 or kind < 0.3:
        return random.choice([None, 1, "a", "", [], {}])
    count = random.choice([1, 5, 30, 90] if depth < 2 else [0, 1, 5])
    if kind < 0.6:
        return [made_row(random, depth + 1) for _ in range(count)]
    names = [
        "id",
        "items",
        "parts",
        "a",
        "0",
        "7",
        *(f"k{one}" for one in range(count)),
    ]
    chosen = random.sample(names, min(len(names), count))
    return {name: made_row(random, depth + 1) for name in chosen}


#: A schema with what decides alone, what needs the whole, and conditions.
TREE: dict[str, Any] = {
    "definitions": {
        "node": {
            "anyOf": [{"type": ["string", "null", "array", "object"]}, {"minimum": 9}],
            "maxItems": 80,
            "minProperties": 1,
            "items": {"$ref": "#/definitions/node"},
            "properties": {
                "id": {"type": "string"},
                "0": {"type": "null"},
                "a": {"items": {"type": "string"}, "uniqueItems": True},
            },
            "if": {"required": ["id"]},
            "then": {"required": ["a"]},
            "else": {"propertyNames": {"minLength": 2}},
            "dependencies": {"items": ["parts"]},
            "additionalProperties": {"$ref": "#/definitions/node"},
        }
    },
    "$ref": "#/definitions/node",
}


@pytest.mark.parametrize("seed", range(8))
def test_what_is_reported_of_a_part_is_true_of_the_row(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cause in a part of any row is a cause in the row, at the same place."""
    for name, size in (("PART", 20), ("SMALL", 3), ("FINDINGS", 10)):
        monkeypatch.setattr(wide_records, name, size)
    random = Random(seed)  # noqa: S311 - needs a seed, not secrecy
    row = {f"k{one}": made_row(random) for one in range(3)}
    engine = schema_validator_of(TREE)
    causes = WideErrors(TREE, engine.iter_errors, lambda *_: None).many(row)
    all_ = root_causes(row, engine.iter_errors(row), TREE, lambda *_: None)
    known = {(one.code, one.path, one.identity) for one in all_}

    if causes is None:
        assert len(known) <= 50
    else:
        unproven = [one for one in causes if _key(one) not in known]
        assert unproven == []


def _key(cause: Any) -> Any:
    return cause.code, cause.path, cause.identity


@pytest.mark.long
def test_memory_of_a_wide_row() -> None:
    """Errors beyond the limit are not held, and the parts of a row are not either."""
    schema = {"properties": {"items": {"items": {"type": "string"}}}}
    row = {"id": "a", "items": [*"a" * 200_000, *range(200_000)]}
    engine = schema_validator_of(schema)
    tracemalloc.start()
    try:
        causes = WideErrors(schema, engine.iter_errors, lambda *_: None).many(row)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert causes is not None
    assert is_wide(row)
    assert (len(causes), peak < 20_000_000) == (FINDINGS, True)
