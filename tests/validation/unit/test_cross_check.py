"""The second opinion of the reference engine."""

from cases import for_each_case
from harpia_formats import validate


@for_each_case(
    "node, value, valid",
    [
        ({"pattern": "^a$"}, b'"a\\n"', False),
        ({"pattern": r"^\p{L}+$"}, b'"ab"', True),
        ({"pattern": r"^\d$"}, '"٣"'.encode(), False),
        ({"multipleOf": 0.01}, b"19.99", True),
        ({"type": "string", "pattern": "a"}, b"5", False),
        ({"patternProperties": {r"^\d$": False}}, '{"٣": 1}'.encode(), True),
        # At every depth of a schema, and in lists of schemas.
        ({"allOf": [{"items": {"multipleOf": 0.01}}]}, b"[19.99]", True),
        (
            {"properties": {"pattern": {"multipleOf": 0.01}}},
            b'{"pattern": 19.99}',
            True,
        ),
        (
            {"dependencies": {"a": {"properties": {"a": {"multipleOf": 0.01}}}}},
            b'{"a": 19.99}',
            True,
        ),
    ],
)
def test_known_differences_are_no_bug(
    node: dict[str, object], value: bytes, valid: bool
) -> None:
    """A schema on which the engines differ by design can be cross-checked."""
    schema = {"properties": {"value": node}}
    report = validate(b'{"value": ' + value + b"}", schema=schema, cross_check=True)

    assert report.ok == valid


def test_record_too_deep_for_the_second_engine_is_no_bug() -> None:
    """Records may have more levels than that follows where references lead back."""
    node = {"additionalProperties": {"allOf": [{"$ref": "#/definitions/node"}]}}
    either = {"anyOf": [{"type": "integer"}, {"type": "object", **node}]}
    schema = {
        "definitions": {"node": either},
        "allOf": [{"$ref": "#/definitions/node"}],
    }
    deep = b'{"a":' * 190 + b"%b" + b"}" * 190

    reports = [
        validate(deep % leaf, schema=schema, cross_check=True) for leaf in (b"1", b'""')
    ]

    assert [report.ok for report in reports] == [True, False]
    assert not any(report.has_internal_errors for report in reports)
