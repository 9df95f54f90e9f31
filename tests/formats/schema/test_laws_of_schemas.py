"""What is known of a schema before a row is validated by it, and what is made of it."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from fixture_files import schema_file
from harpia_formats import SchemaError, validate
from harpia_formats.formats.schema.decoder_types import allows_any
from harpia_formats.formats.schema.to_python import as_python
from harpia_formats.formats.schema.user_schema import is_bounded
from json_lines import jsonl, jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

TEXT = {"type": "string"}
VALUES: list[Any] = jsonl_rows(CASES / "values.jsonl")

#: Schemas whose references name an `$id` inside, or the meta-schema.
SCHEMAS: dict[str, Any] = dict(jsonl_rows(CASES / "local_references.jsonl"))


@for_each_case("name", SCHEMAS)
def test_verdicts_are_those_of_the_reference_engine(name: str) -> None:
    """A schema with local references accepts what the reference engine accepts."""
    check_validation(name, cross_check=False)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if at % 5 else [])
        for at, name in enumerate(SCHEMAS)
    ],
)
def test_validation_and_cross_check_follow_them(name: str) -> None:
    """So does the second engine, which finds no difference."""
    check_validation(name, cross_check=True)


def check_validation(name: str, *, cross_check: bool) -> None:
    """Assert that just the values are refused that the reference engine refuses."""
    is_valid = jsonschema.Draft7Validator(SCHEMAS[name]).is_valid
    data = "".join(f"{json.dumps(value)}\n" for value in VALUES).encode()

    report = validate(data, schema=SCHEMAS[name], cross_check=cross_check, examples=0)

    refused = {problem.place.record for problem in report.problems}
    expected = {n for n, value in enumerate(VALUES, 1) if not is_valid(value)}
    assert refused == expected
    assert 0 < len(expected) < len(VALUES)
    assert not report.has_internal_errors


@for_each_case("name", sorted(SCHEMAS.keys() - {"not an id"}))
def test_exported_module_follows_them(name: str) -> None:
    """The Python export of such a schema has the same verdicts."""
    reference = jsonschema.Draft7Validator(SCHEMAS[name])
    module: dict[str, Any] = {}
    exec(as_python("mine", SCHEMAS[name]), module)  # noqa: S102 - our own output

    for value in VALUES:
        try:
            module["validate"](value)
            found = True
        except module["Invalid"]:
            found = False
        assert found is reference.is_valid(value), value


@pytest.mark.parametrize("target", ["y", "http://127.0.0.1:9/x"])
def test_data_that_looks_like_a_reference_is_not_exported(target: str) -> None:
    """The generator takes a key `$ref` in data for a reference: that is an error."""
    with pytest.raises(SchemaError, match="cannot be written as Python"):
        as_python("mine", {"enum": [{"$ref": target}]})


@for_each_case(
    "schema, valid, invalid",
    jsonl_rows(CASES / "refused_in_long_files.jsonl"),
)
def test_many_rows_have_the_verdict_of_one(
    schema: Any, valid: list[Any], invalid: Any
) -> None:
    """A long file, whose rows are decoded by type, is refused where one row is.

    The Python export of the schema agrees.
    """
    rows = [*valid, *[invalid] * 20]
    module: dict[str, Any] = {}
    exec(as_python("mine", schema), module)  # noqa: S102 - our own output

    report = validate(jsonl(*rows, *valid * 20), schema=schema, examples=0)

    # A finding on the schema itself is in no record.
    refused = {problem.place.record for problem in report.problems} - {None}
    assert refused == {*range(len(valid) + 1, len(rows) + 1)}
    assert not report.has_internal_errors
    with pytest.raises(module["Invalid"]):
        module["validate"](invalid)
    for value in valid:
        module["validate"](value)


OF_FIELD = st.sampled_from(
    [
        *(True, False, {}, {"type": "string"}, {"type": ["string", "null"]}),
        *({"type": "null"}, {"type": "string", "minLength": 1}, {"enum": ["a"]}),
        *({"title": "t", "type": "string"}, {"pattern": "a"}, {"type": "array"}),
        *({"type": ["array", "null"]}, {"type": "array", "items": {"type": "null"}}),
    ]
)
SCHEMAS_OF_COLUMNS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", ["object", "null"], "string"]),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "properties": st.dictionaries(st.sampled_from("abc"), OF_FIELD),
        "additionalProperties": OF_FIELD,
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(0, 3),
        "not": st.just({"required": ["a"]}),
        "$schema": st.just("http://json-schema.org/draft-07/schema#"),
    },
)


@given(
    schema=SCHEMAS_OF_COLUMNS | st.booleans(),
    columns=st.lists(st.sampled_from("abcd"), unique=True),
    texts=st.lists(st.sampled_from(["", "a", "b"]), min_size=4, max_size=4),
)
def test_texts_are_valid_where_any_are_allowed(
    schema: Any, columns: list[str], texts: list[str]
) -> None:
    """Where any texts are allowed, the schema validator accepts each record of them."""
    if allows_any(schema, columns):
        value = dict(zip(columns, texts, strict=False))
        assert jsonschema_rs.Draft7Validator(schema).is_valid(value)


@given(
    schema=SCHEMAS_OF_COLUMNS | st.booleans(),
    columns=st.lists(st.sampled_from("abcd"), unique=True),
    items=st.lists(st.lists(st.none() | st.just(1)), min_size=4, max_size=4),
)
def test_lists_are_valid_where_any_are_allowed(
    schema: Any, columns: list[str], items: list[Any]
) -> None:
    """Where any lists are allowed, the schema validator accepts all columns of them."""
    if allows_any(schema, columns, "array"):
        value = dict(zip(columns, items, strict=False))
        assert jsonschema_rs.Draft7Validator(schema).is_valid(value)


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
    assert allows_any(schema_file(name), columns)


def test_column_that_is_there_twice_is_not_decided() -> None:
    """Of two columns with one name, it is not known which is meant."""
    assert not allows_any(True, ["a", "a"])


def chain(levels: int) -> dict[str, Any]:
    """Return definitions of which each refers to the next one twice."""
    made: dict[str, Any] = {f"d{levels}": TEXT}
    for level in range(levels):
        following = {"$ref": f"#/definitions/d{level + 1}"}
        made[f"d{level}"] = {"allOf": [following, following]}
    return {"$ref": "#/definitions/d0", "definitions": made}


@for_each_case(
    "schema",
    [
        True,
        {},
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        {"items": {"$ref": "#/definitions/t"}, "definitions": {"t": TEXT}},
        {"pattern": r"^[a-z]{1,64}-\d+$"},
        {"pattern": "^(a+)+$"},
        {"patternProperties": {"^x-": TEXT}},
        {"enum": [f"value {number}" for number in range(3_000)]},
        {"$id": "http://x/y", "items": {"$ref": "#/definitions/t"}}
        | {"definitions": {"t": TEXT}},
        chain(5),
    ],
)
def test_work_of_ordinary_schemas_is_bounded(schema: Any) -> None:
    """A schema without multiplied work is validated without another process."""
    assert is_bounded(schema)


@for_each_case(
    "schema",
    [
        chain(40),
        {"properties": {"a": {"$ref": "#"}}},
        {"properties": {"a": {"$ref": "other.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"pattern": "^(?=a)"},
        {"pattern": r"(a)\1"},
        {"pattern": "(a{99}){99}"},
        {"pattern": "a" * 5_000},
        {"patternProperties": {"(?<!a)b": TEXT}},
        {"enum": [{"a": number} for number in range(3_000)]},
        {"properties": {f"k{number}": TEXT for number in range(5_000)}},
        {"definitions": {"a": {"$id": "x", "items": {"$ref": "#"}}}},
    ],
)
def test_work_that_may_be_multiplied_is_not_bounded(schema: Any) -> None:
    """Recursion, doubled references, hard patterns and large schemas are not."""
    assert not is_bounded(schema)


@for_each_case("schema", [None, 5, [{}], {"enum": 5}, {"pattern": []}])
def test_any_value_has_an_answer(schema: Any) -> None:
    """The answer is given before it is known that a value is a schema."""
    assert is_bounded(schema) in {True, False}
