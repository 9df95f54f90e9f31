from typing import Any

from cases import for_each_case
from harpia_formats.formats.schema.user_schema import is_bounded

TEXT = {"type": "string"}


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
