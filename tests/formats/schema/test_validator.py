import pytest

from harpia_formats.formats.schema.bundled_schemas import schema_validator_of


@pytest.mark.parametrize(
    ("value", "valid"), [(10**30, True), (1.5, False), ("", False)]
)
def test_verdict_is_that_of_the_schema(value: object, valid: bool) -> None:
    """The validator follows draft 07, with integers of any size."""
    assert schema_validator_of({"type": "integer"}).is_valid(value) == valid


@pytest.mark.parametrize(("formats", "valid"), [(False, True), (True, False)])
def test_formats_refuse_only_when_asked_to(formats: bool, valid: bool) -> None:
    """The keyword `format` refuses nothing unless it is asserted."""
    schema_validator = schema_validator_of({"format": "date-time"}, formats=formats)

    assert schema_validator.is_valid("yesterday") == valid


def test_patterns_run_in_linear_time() -> None:
    """A pattern that is exponential with backtracking is matched in linear time."""
    schema_validator = schema_validator_of({"pattern": "^(a+)+$"})

    assert not schema_validator.is_valid("a" * 50_000 + "b")


def test_patterns_that_look_ahead_are_known_too() -> None:
    """A pattern that the linear engine does not support is matched by the other one."""
    schema_validator = schema_validator_of({"pattern": "^(?!no)"})

    assert [schema_validator.is_valid(each) for each in ("yes", "no")] == [True, False]


@pytest.mark.parametrize("formats", [False, True])
def test_nothing_is_fetched(formats: bool) -> None:
    """A reference to another file is refused, not followed."""
    with pytest.raises(ValueError, match="example"):
        schema_validator_of({"$ref": "https://example.org/a.json"}, formats=formats)
