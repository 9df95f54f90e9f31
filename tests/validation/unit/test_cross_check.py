"""The second opinion of the reference engine."""

from cases import for_each_case
from harpia_formats import validate
from harpia_formats.validation.unit.cross_check import (
    second_opinion_of,
    without_uncompared,
)


def test_agrees_and_disagrees() -> None:
    """It agrees with a right verdict and not with a wrong one."""
    agrees = second_opinion_of({"type": "object"})

    assert agrees({}, True)
    assert not agrees({}, False)
    assert agrees([], False)


def test_own_ways_are_left_out() -> None:
    """What the reference engine reads in its own way is left out at every depth."""
    schema = {
        "pattern": "a",
        "properties": {"pattern": {"multipleOf": 0.1, "type": "number"}},
        "enum": [{"pattern": 1}],
        "allOf": [{"patternProperties": {"a": {}}}],
    }

    assert without_uncompared(schema) == {
        "properties": {"pattern": {"type": "number"}},
        "enum": [{"pattern": 1}],
        "allOf": [{}],
    }


@for_each_case(
    "node, value, valid",
    [
        ({"pattern": "^a$"}, b'"a\\n"', False),
        ({"pattern": r"^\p{L}+$"}, b'"ab"', True),
        ({"pattern": r"^\d$"}, '"٣"'.encode(), False),
        ({"multipleOf": 0.01}, b"19.99", True),
        ({"type": "string", "pattern": "a"}, b"5", False),
    ],
)
def test_known_differences_are_no_bug(
    node: dict[str, object], value: bytes, valid: bool
) -> None:
    """A schema on which the engines differ by design can be cross-checked."""
    schema = {"properties": {"value": node}}
    report = validate(b'{"value": ' + value + b"}", schema=schema, cross_check=True)

    assert report.ok == valid
