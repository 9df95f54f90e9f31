"""Where errors are below empty keys, which the paths of the schema engine lack."""

from typing import Any

from cases import for_each_case
from harpia_formats import validate

NO_INTEGER = {"not": {"type": "integer"}}
LEVELS: dict[str, Any] = {**NO_INTEGER, "additionalProperties": {"$ref": "#"}}
#: Both integers of `DATA` are equal, so that their values tell nothing.
DATA = b'{"":{"b":0},"b":0}'
BOTH = [("//b", 9), ("/b", 16)]


@for_each_case(
    "schema, data, places",
    [
        (
            {
                "additionalProperties": {
                    **NO_INTEGER,
                    "additionalProperties": NO_INTEGER,
                }
            },
            DATA,
            BOTH,
        ),
        (LEVELS, DATA, BOTH),
        (
            {"properties": {"": {"properties": {"b": NO_INTEGER}}, "b": NO_INTEGER}},
            DATA,
            BOTH,
        ),
        (
            {"properties": {"": {"properties": {"b": False}}, "b": False}},
            DATA,
            BOTH,
        ),
        (
            LEVELS,
            b'{"":{"":{"":0,"b":0}},"b":0}',
            [("///", 12), ("///b", 18), ("/b", 26)],
        ),
        (
            {"additionalProperties": {"items": False}},
            b'{"":[0],"b":[0]}',
            [("//0", 5), ("/b/0", 13)],
        ),
    ],
)
def test_each_error_has_its_own_place(
    schema: dict[str, Any], data: bytes, places: list[tuple[str, int]]
) -> None:
    """The schema tells how deep an error is where the engine does not."""
    found = [one.place for one in validate(data, schema=schema).problems]

    assert {(one.pointer, one.byte_offset) for one in found} == {*places}
    assert len(found) == len(places)
