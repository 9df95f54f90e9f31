"""What the schemas of HarpIA's files allow, and that strict ones leave no remark."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from cases import for_each_case
from effort import examples
from fixture_files import schema_file
from harpia_formats.plugins import Dialect
from known_formats import FORMATS, RULES

SCHEMAS = Path(__file__).parents[3] / "schemas" / "harpia"
DIALECTS = [
    each
    for module in (FORMATS["harpia"], FORMATS["harpia-output"], FORMATS["harpia-log"])
    for each in module.dialects
]
DOUBTS = {each.code for each in RULES.values() if each.lint and each.code[0] == "H"}
INSTANCE = {
    "id": "1",
    "input": "Que dia é hoje?",
    "expected-output": ["Domingo", "É domingo"],
    "actual-output": "星期天",
}
METRIC = {"id": "BLEU", "enable": True, "parameters": {"weights": [1]}}
ITEM = {"id": "BLEU", "parameters": {}, "score": {"f1": 1}, "elapsed time": 0.5}
ROW = {"id": "BLEU", "parameters": {}, "instance_id": 1, "result": None}
GOOD: dict[str, dict[str, Any]] = {
    "instances": INSTANCE,
    "instancias": INSTANCE,
    "results": ITEM,
    "": ROW,
}
VALUES: list[Any] = [None, True, 0, 1.5, "", "true", [], ["a"], [1], {}, ...]
KEYS = [
    *INSTANCE,
    *METRIC,
    *ITEM,
    *ROW,
    *("actual_output", "actualOutput", "expected_output", "expectedOutput"),
    *("enabled", "metric", "metric_id", "elapsed_time", "elapsed-time", "elapsedTime"),
]
#: Fields to change in a good object, `...` for those to take away.
CHANGES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)


def row_schema(identifier: str, rows_at: str) -> dict[str, Any]:
    """Return what a schema says of one record."""
    schema = schema_file(identifier)
    items: dict[str, Any] = (
        schema["properties"][rows_at]["items"] if rows_at else schema
    )
    return items


def changed(value: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return `value` with fields changed or taken away."""
    both = value | changes
    return {key: each for key, each in both.items() if each is not ...}


def is_allowed(value: Any, schema: dict[str, Any]) -> bool:
    """Tell whether the reference engine allows `value`."""
    return Draft7Validator(schema).is_valid(value)


@for_each_case(
    "changes, tolerant, strict",
    [
        ({}, True, True),
        ({"id": ...}, True, True),
        ({"elapsed time": ..., "elapsed-time": 1}, True, False),
        ({"parameters": []}, True, False),
        ({"score": ...}, False, False),
    ],
)
def test_output_by_metric(changes: Any, tolerant: bool, strict: bool) -> None:
    """An output under its metric's name is validated in the same way, without an id."""
    document = {"BLEU": changed(ITEM, changes)}
    found = [
        is_allowed(document, schema_file(each))
        for each in ("harpia-output-keyed", "harpia-output-keyed-strict")
    ]

    assert found == [tolerant, strict]


@pytest.mark.parametrize(
    "dialect",
    [each for each in DIALECTS if each.remarks],
    ids=lambda each: each.name or each.schema,
)
@examples(37)
@given(changes=CHANGES)
def test_strictly_valid_has_no_remarks(
    dialect: Dialect, changes: dict[str, Any]
) -> None:
    """What the strict schema of a dialect allows is allowed by its own, unremarked."""
    value = changed(GOOD[dialect.rows_at], changes)
    if dialect.name == "keyed":
        value = {"BLEU": changed(ITEM, changes)}
    tolerant = row_schema(dialect.schema, dialect.rows_at)
    if is_allowed(value, row_schema(dialect.strict, dialect.rows_at)):
        assert dialect.remarks is not None
        assert not list(dialect.remarks(value))
        assert is_allowed(value, tolerant)


@examples(25)
@given(changes=CHANGES, key=st.sampled_from(["metrics", "Metrics", "metricas"]))
def test_strictly_valid_header_has_no_remarks(
    changes: dict[str, Any], key: str
) -> None:
    """What is around strictly valid instances has doubts at most."""
    document = {"instances": [], key: [changed(METRIC, changes)]}
    if is_allowed(document, schema_file("harpia-strict")):
        remarks = FORMATS["harpia"].dialects[0].header_remarks
        assert remarks is not None
        codes = {each.code for each in remarks(document)}

        assert is_allowed(document, schema_file("harpia"))
        assert codes <= DOUBTS


@for_each_case("path", sorted(SCHEMAS.glob("harpia*")), ids=lambda each: each.name)
def test_schema_explains_itself(path: Path) -> None:
    """A schema says what it is of, in which version, and what each property means."""
    schema = json.loads(path.read_bytes())

    def undescribed(node: Any) -> list[str]:
        if not isinstance(node, dict):
            return []
        named = node.get("properties", {})
        inner = [*named.values(), node.get("items"), node.get("additionalProperties")]
        missing = [
            key for key, each in named.items() if each and "description" not in each
        ]
        return missing + [key for each in inner for key in undescribed(each)]

    assert {"title", "description"} <= schema.keys()
    assert schema["version"] == "1"
    assert undescribed(schema) == []
