from typing import Any

import jsonschema
import pytest

from cases import for_each_case
from harpia_formats import validate
from harpia_formats.formats.schema.bundled_schemas import (
    SchemaError,
    schema_validator_of,
)
from harpia_formats.formats.schema.to_python import as_python
from harpia_formats.formats.schema.user_schema import (
    check_schema,
    with_local_references,
)

META = "http://json-schema.org/draft-07/schema#"
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
VALUES: list[Any] = [5, "a", None, [], [1], ["a"], {}, {"a": 1}, {"a": "a"}]
VALUES += [{"a": {"a": 1}}, {"a": {"a": "a"}}, {"a": [1]}, {"a": ["a"]}, {"b": 1}]
VALUES += [{"type": 5}, {"type": "string"}, {"a": {"type": "strin"}}, {"b": "a"}]

#: Schemas whose references name an `$id` inside, or the meta-schema.
SCHEMAS: dict[str, Any] = {
    "relative": {
        "$id": "http://example.org/root.json",
        "properties": {"a": {"$ref": "item.json"}},
        "definitions": {"item": {"$id": "item.json", **TEXT}},
    },
    "absolute path": {
        "$id": "http://example.org/a/b/root.json",
        "properties": {"a": {"$ref": "/a/item.json"}},
        "definitions": {"item": {"$id": "../item.json", **TEXT}},
    },
    "no base": {
        "properties": {"a": {"$ref": "item.json"}},
        "definitions": {"item": {"$id": "item.json", **TEXT}},
    },
    "pointer in a part": {
        "properties": {"a": {"$ref": "http://x/y#/definitions/t"}},
        "definitions": {"y": {"$id": "http://x/y", "definitions": {"t": TEXT}}},
    },
    "relative to the part": {
        "definitions": {
            "t": WHOLE,
            "y": {
                "$id": "http://x/y",
                "properties": {"a": {"$ref": "#/definitions/t"}},
                "definitions": {"t": TEXT},
            },
        },
        "anyOf": [{"$ref": "http://x/y"}, {"$ref": "#/definitions/t"}],
    },
    "nearest parent": {
        "$id": "http://x/a.json",
        "definitions": {
            "x": {
                "$id": "http://x/b/c.json",
                "not": {"definitions": {"y": {"$id": "d.json", "type": "number"}}},
            }
        },
        "allOf": [{"$ref": "http://x/b/d.json"}],
    },
    "name": {
        "properties": {"a": {"$ref": "#text"}},
        "definitions": {"t": {"$id": "#text", **TEXT}},
    },
    "name in a part": {
        "properties": {"a": {"$ref": "y#text"}},
        "definitions": {
            "s": {"$id": "#text", **WHOLE},
            "y": {"$id": "y", "definitions": {"t": {"$id": "#text", **TEXT}}},
        },
    },
    "urn": {
        "$id": "urn:root",
        "properties": {"a": {"$ref": "urn:item"}, "b": {"$ref": "#/definitions/t"}},
        "definitions": {"t": TEXT, "i": {"$id": "urn:item", **TEXT}},
    },
    "root by its name": {
        "$id": "http://x/tree",
        "properties": {"a": {"$ref": "tree"}, "b": {"$ref": "tree#/definitions/t"}},
        "definitions": {"t": TEXT},
        "type": ["object", "string"],
    },
    "not an id": {
        "properties": {"$id": TEXT, "a": {"$ref": "#/definitions/t"}},
        "definitions": {"t": {"enum": [{"$id": "x", "$ref": "y"}, "a"]}},
    },
    "meta-schema": {"properties": {"a": {"$ref": META}}},
    "meta-schema without #": {"items": {"$ref": META.rstrip("#")}},
    "part of the meta-schema": {
        "properties": {"type": {"$ref": f"{META}/definitions/simpleTypes"}}
    },
    "meta-schema beside an id": {
        "$id": "http://x/y",
        "allOf": [{"$ref": META}, {"properties": {"a": {"$ref": "z"}}}],
        "definitions": {"z": {"$id": "z", "type": ["object", "array"]}},
    },
    "odd keys": {
        "properties": {"a": {"$ref": "x"}},
        "definitions": {'%"é/~#': {"$id": "x", **TEXT}},
    },
    "under another keyword": {
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"$id": "http://x/x", "allOf": [{"$ref": "#/not"}]}}
        | {"x": {"items": {"$ref": META}, "type": ["string", "array"]}},
    },
}


@for_each_case("name", SCHEMAS)
def test_verdicts_are_those_of_the_reference_engine(name: str) -> None:
    """With local references a schema accepts the same values as the original does."""
    schema = SCHEMAS[name]
    reference = jsonschema.Draft7Validator(schema)

    local = check_schema("mine.json", schema).schema

    validator = schema_validator_of(local)
    verdicts = [validator.is_valid(value) for value in VALUES]
    assert verdicts == [reference.is_valid(value) for value in VALUES]
    assert {True, False} <= set(verdicts)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if at % 5 else [])
        for at, name in enumerate(SCHEMAS)
    ],
)
def test_validation_and_cross_check_follow_them(name: str) -> None:
    """Such a schema can be used to validate, and the second engine agrees."""
    schema = SCHEMAS[name]
    is_valid = jsonschema.Draft7Validator(schema).is_valid
    data = "".join(f"{as_json(value)}\n" for value in VALUES).encode()

    report = validate(data, schema=schema, cross_check=True, examples=0)

    refused = {problem.place.record for problem in report.problems}
    expected = {n for n, value in enumerate(VALUES, 1) if not is_valid(value)}
    assert refused == expected
    assert not report.has_internal_errors


@for_each_case("name", sorted(SCHEMAS.keys() - {"not an id"}))
def test_exported_module_follows_them(name: str) -> None:
    """The Python export of such a schema has the same verdicts."""
    schema = SCHEMAS[name]
    reference = jsonschema.Draft7Validator(schema)
    module: dict[str, Any] = {}
    exec(as_python("mine", schema), module)  # noqa: S102 - our own output

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


def as_json(value: Any) -> str:
    """Return a value as JSON text."""
    import json  # noqa: PLC0415 - here only

    return json.dumps(value)


def test_schema_with_local_references_is_not_copied() -> None:
    """A schema whose references are pointers is returned as it is."""
    schema = {"$id": "http://x/y", "items": {"$ref": "#"}}

    assert with_local_references("mine.json", schema) is schema


@for_each_case(
    "schema, reason",
    [
        (
            {"definitions": {"a": {"$id": "x"}, "b": {"$id": "x"}}},
            "has two parts with the $id x: #/definitions/a, #/definitions/b",
        ),
        (
            {"$id": "http://x/a", "items": {"$ref": "b"}},
            "refers to b; only references inside the file are followed",
        ),
        (
            {"definitions": {"a": {"$id": "http://[x"}}},
            "cannot be used: at /definitions/a/$id: http://[x is not a URI",
        ),
        (
            {"items": {"$ref": f"{META}/definitions/none"}},
            f"refers to {META}/definitions/none, which is not there",
        ),
        (
            {"items": {"$ref": "#/x"}, "x": {"type": "strin"}},
            "refers to #/x, which is not a schema",
        ),
    ],
)
def test_reference_that_nobody_can_follow(schema: Any, reason: str) -> None:
    """An ambiguous or dangling name is refused, with the name."""
    with pytest.raises(SchemaError) as caught:
        check_schema("mine.json", schema)

    assert caught.value.reason == reason
