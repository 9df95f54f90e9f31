"""Schemas by which records of any texts are valid."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.formats.schema.bundled_schemas import (
    built_in_schema,
    schema_validator_of,
)
from harpia_formats.formats.schema.decoder_types import allows_any

_of_field = st.sampled_from(
    [
        *(True, False, {}, {"type": "string"}, {"type": ["string", "null"]}),
        *({"type": "null"}, {"type": "string", "minLength": 1}, {"enum": ["a"]}),
        *({"title": "t", "type": "string"}, {"pattern": "a"}, {"type": "array"}),
        *({"type": ["array", "null"]}, {"type": "array", "items": {"type": "null"}}),
    ]
)
_schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", ["object", "null"], "string"]),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "properties": st.dictionaries(st.sampled_from("abc"), _of_field),
        "additionalProperties": _of_field,
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(0, 3),
        "not": st.just({"required": ["a"]}),
        "$schema": st.just("http://json-schema.org/draft-07/schema#"),
    },
)


@given(
    schema=_schemas | st.booleans(),
    columns=st.lists(st.sampled_from("abcd"), unique=True),
    texts=st.lists(st.sampled_from(["", "a", "b"]), min_size=4, max_size=4),
)
def test_texts_are_valid_where_any_are_allowed(
    schema: Any, columns: list[str], texts: list[str]
) -> None:
    """Where any texts are allowed, the schema validator accepts each record of them."""
    if allows_any(schema, columns):
        value = dict(zip(columns, texts, strict=False))
        assert schema_validator_of(schema).is_valid(value)


@given(
    schema=_schemas | st.booleans(),
    columns=st.lists(st.sampled_from("abcd"), unique=True),
    items=st.lists(st.lists(st.none() | st.just(1)), min_size=4, max_size=4),
)
def test_lists_are_valid_where_any_are_allowed(
    schema: Any, columns: list[str], items: list[Any]
) -> None:
    """Where any lists are allowed, the schema validator accepts all columns of them."""
    if allows_any(schema, columns, "array"):
        value = dict(zip(columns, items, strict=False))
        assert schema_validator_of(schema).is_valid(value)


@for_each_case(
    "name, columns",
    [
        ("csv", "ab"),
        ("tencent-csv", ["prompt", "response", "other"]),
        ("tencent-csv-strict", ["system", "prompt", "response"]),
        ("tencent-csv-answer", ["prompt", "answer"]),
        ("tencent-csv-answer-strict", ["system", "prompt", "answer"]),
    ],
)
def test_schemas_of_tables_allow_any_texts(name: str, columns: list[str]) -> None:
    """The records of every bundled table are decided by its columns."""
    assert allows_any(built_in_schema(name), columns)


def test_column_that_is_there_twice_is_not_decided() -> None:
    """Of two columns with one name, it is not known which is meant."""
    assert not allows_any(True, ["a", "a"])
