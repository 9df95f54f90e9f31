"""Paths through records and schemas, and the conditions and keys that are on them."""

from types import SimpleNamespace
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.plugins import Path
from harpia_formats.validation.diagnosis import engine_errors
from harpia_formats.validation.diagnosis.engine_errors import (
    AppliedCondition,
    EngineError,
    SchemaPaths,
    condition_of,
    engine_error_of,
    has_value,
    keywords_on,
    known_keys,
    last_keyword,
    schema_at,
    schema_object_at,
    value_at,
)

RECORD: dict[str, Any] = {"a": [{"b": None}, 5], "": {"c": "text"}, "0": 1}
SCHEMA: dict[str, Any] = {
    "properties": {"a": {"$ref": "#/definitions/d"}, "$ref": {"type": "null"}},
    "items": [True, {"type": "string"}],
    "definitions": {"d": {"properties": {"01": {"$ref": "#/definitions/e"}}}, "e": {}},
}


@for_each_case(
    "path, value",
    [
        ((), RECORD),
        (("a",), RECORD["a"]),
        (("a", 0), {"b": None}),
        (("a", 0, "b"), None),
        (("a", 1), 5),
        (("", "c"), "text"),
        (("0",), 1),
    ],
)
def test_value_at_a_path(path: Path, value: Any) -> None:
    """A path leads to the value there."""
    assert value_at(RECORD, path) == value
    assert has_value(RECORD, path)


@for_each_case(
    "path",
    [("b",), (0,), ("a", "0"), ("a", 2), ("a", 0, "c"), ("a", 1, 0), ("", "c", 0)],
)
def test_no_value_at_a_path(path: Path) -> None:
    """A path of another kind than the value, or to nothing, is a lookup error."""
    assert not has_value(RECORD, path)
    with pytest.raises(LookupError):
        value_at(RECORD, path)


@for_each_case(
    "path, node",
    [
        ((), SCHEMA),
        (("items", 1, "type"), "string"),
        (("properties", "a"), {"$ref": "#/definitions/d"}),
        (("properties", "a", "$ref"), SCHEMA["definitions"]["d"]),
        (("properties", "a", "$ref", "properties", 1, "$ref"), {}),
        # A property that is called like the keyword is no reference.
        (("properties", "$ref", "type"), "null"),
    ],
)
def test_part_of_a_schema(path: Path, node: Any) -> None:
    """A path through a schema follows references, and names keys as the engine does."""
    assert schema_at(SCHEMA, path) == node
    assert schema_object_at(SCHEMA, path) == (node if isinstance(node, dict) else {})


@for_each_case("path", [("x",), ("items", 2), ("items", 0, "a"), ("items", "a")])
def test_no_part_of_a_schema(path: Path) -> None:
    """There is no object at a path that the schema does not have."""
    assert schema_object_at(SCHEMA, path) == {}
    with pytest.raises((LookupError, TypeError)):
        schema_at(SCHEMA, path)


@for_each_case(
    "path, condition",
    [
        (("required",), None),
        (("then", "required"), AppliedCondition(("then",), 0)),
        (("else",), AppliedCondition(("else",), 0)),
        (
            ("properties", "a", "items", 3, "additionalItems", "then", "type"),
            AppliedCondition(
                ("properties", "a", "items", 3, "additionalItems", "then"), 3
            ),
        ),
        # Steps that stay at the value.
        (
            ("allOf", 0, "anyOf", 1, "oneOf", 0, "$ref", "if", "not", "then"),
            AppliedCondition(
                ("allOf", 0, "anyOf", 1, "oneOf", 0, "$ref", "if", "not", "then"), 0
            ),
        ),
        (
            ("patternProperties", "then", "additionalProperties", "else", "then", "x"),
            AppliedCondition(
                ("patternProperties", "then", "additionalProperties", "else", "then"), 2
            ),
        ),
        # Names are no keywords.
        (("properties", "then", "type"), None),
        (("definitions", "else", "type"), None),
        (("dependencies",), None),
        (
            ("dependencies", "then", "required"),
            AppliedCondition(("dependencies", "then"), 0, "then"),
        ),
        (
            ("items", "dependencies", 7),
            AppliedCondition(("items", "dependencies", 7), 1, "7"),
        ),
        (("items", "then", "x"), AppliedCondition(("items", "then"), 1)),
        (("items", 0, "then"), AppliedCondition(("items", 0, "then"), 1)),
        (("items", 0), None),
    ],
)
def test_condition_on_a_path(path: Path, condition: AppliedCondition | None) -> None:
    """The innermost condition has the path to it, and the depth of its object."""
    assert condition_of(path) == condition
    paths = SchemaPaths({})
    assert [paths.condition(path), paths.condition(path)] == [condition, condition]


def test_keywords_on_a_path() -> None:
    """Keywords, names and numbers are distinguished, and keywords that lead inward.

    The last one may be a name.
    """
    path = "properties", "items", "items", 0, "items", "allOf", 1, "additionalItems", 5
    inward = {"properties", "items", "additionalItems"}
    found = [(0, "properties"), (2, "items"), (4, "items"), (5, "allOf")]
    found += [(7, "additionalItems"), (8, "5")]

    assert list(keywords_on(path)) == [(at, key, key in inward) for at, key in found]
    assert last_keyword(path[:8]) == "additionalItems"
    assert [last_keyword(path[:end]) for end in (0, 1, 2, 3, 4, 7)] == [
        *("", "properties", "", "items", "", "")
    ]


@for_each_case(
    "test, paths",
    [
        ({"properties": {"a": {"const": 1}, "b": {}}}, [("a",), ("b",)]),
        ({"required": ["a", "b"]}, [("a",), ("b",)]),
        ({"properties": {"a": {}}, "required": ["b", "a"]}, [("a",), ("b",)]),
        # Of what is tested inside of a value, only that.
        (
            {
                "properties": {"a": {"properties": {"b": {"properties": {"c": {}}}}}},
                "required": ["a", "d"],
            },
            [("a", "b", "c"), ("d",)],
        ),
        ({"properties": {"a": True, "b": {"required": ["c"]}}}, [("a",), ("b",)]),
        (
            {
                "allOf": [{"required": ["a"]}],
                "anyOf": [{"required": ["b"]}, True],
                "oneOf": [{"required": ["c"]}, {"required": ["a"]}],
                "not": {"required": ["d"]},
            },
            [("a",), ("b",), ("c",), ("d",)],
        ),
        # A reference stands alone.
        ({"$ref": "#/definitions/d", "required": ["a"]}, [("x",), ("y",)]),
        (True, []),
        ({"const": 1}, []),
    ],
)
def test_values_that_a_condition_tests(test: Any, paths: list[Path]) -> None:
    """The paths of the values that the `if` of a condition looks at, each once."""
    definition = {"properties": {"x": {}}, "required": ["y"]}
    schema = {"items": {"if": test}, "definitions": {"d": definition}}

    assert (
        engine_errors.tested_paths(AppliedCondition(("items", "then"), 1), schema)
        == paths
    )
    assert (
        engine_errors.tested_paths(AppliedCondition(("items", "else"), 1), schema)
        == paths
    )
    assert engine_errors.tested_paths(AppliedCondition(("then",), 0), schema) == []
    of_key = AppliedCondition(("items", "dependencies", "k"), 1, "k")
    assert engine_errors.tested_paths(of_key, schema) == [("k",)]


@for_each_case(
    "path, condition, known",
    [
        (("required",), None, "own needed first"),
        (("properties", "in", "required"), None, "inner"),
        (("x", "required"), None, ""),
        (("then", "required"), ("then",), "own needed first late demanded"),
        (
            ("allOf", 0, "then", "required"),
            ("allOf", 0, "then"),
            "own needed first two",
        ),
        (("items", "then", "required"), ("items", "then"), ""),
        (("dependencies", "d"), ("dependencies", "d"), "own needed first"),
        (("dependencies", "e", "required"), ("dependencies", "e"), "own needed first"),
        (
            ("properties", "in", "allOf", 1, "then", "required"),
            ("properties", "in", "allOf", 1, "then"),
            "inner three",
        ),
        (("properties", "in", "then", "then"), ("properties", "in", "then"), "inner"),
        (
            ("properties", "in", "dependencies", "k"),
            ("properties", "in", "dependencies", "k"),
            "inner",
        ),
    ],
)
def test_known_keys(path: Path, condition: Path | None, known: str) -> None:
    """Keys are known that the schema of the object names, or a condition on it."""
    then = {"properties": {"first": {}}, "required": ["two"]}
    schema = {
        "properties": {
            "own": {},
            "in": {
                "properties": {"inner": {}},
                "allOf": [True, {"then": {"required": ["three"]}}],
            },
        },
        "required": ["needed"],
        "then": {"properties": {"late": {}}, "required": ["demanded"]},
        "allOf": [{"then": then}, {"then": True}, False, {"else": then}],
        "dependencies": {"d": ["own"], "e": {"required": ["other"]}},
    }
    key = str(path[1]) if "dependencies" in path else None
    applied = None if condition is None else AppliedCondition(condition, 0, key)
    error = EngineError("required", "missing", (), path, applied)
    named = {*known.split(), "in"} if "own" in known else set(known.split())
    if "e" in path:
        named.add("other")

    assert known_keys(schema, error) == named


@for_each_case(
    "names, keyword",
    [
        ("Type Pattern", "anyOf"),
        ("BacktrackLimitExceeded", "undetermined"),
        ("Type RegexEngineFailure", "undetermined"),
    ],
)
def test_alternative_without_a_verdict(names: str, keyword: str) -> None:
    """A value is not refused if the engine gave up on one of the alternatives.

    The engine says so itself today. Here it reports that inside of the alternatives.
    """

    def error_of(name: str, keyword: str, **more: Any) -> Any:
        kind = type(name, (), {"name": keyword, "value": ["null"], **more})()
        return SimpleNamespace(
            kind=kind, instance_path=(), schema_path=(), evaluation_path=()
        )

    context = [[error_of(name, name.lower())] for name in names.split()]
    error = error_of("AnyOf", "anyOf", context=context)
    found = engine_error_of(error, "text", SchemaPaths({}))

    assert found.keyword == keyword
    assert [each.keyword for (each,) in found.detail] == [
        name.lower() if name in {"Type", "Pattern"} else "undetermined"
        for name in names.split()
    ]


def test_so_many_paths_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind, 1,024 paths are remembered, then none of them."""
    looked_at: list[int] = []

    def noted(_schema: Any, path: Path) -> Any:
        looked_at.append(int(path[0]))
        return iter([path])

    monkeypatch.setattr(engine_errors, "matching_paths", noted)
    paths = SchemaPaths({})
    for number in (*range(1_024), 0, 1_024, 1_024, 0):
        assert paths.location((number,)) == (number,)

    assert looked_at == [*range(1_025), 0]
