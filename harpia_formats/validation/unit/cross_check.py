"""The second opinion: the reference implementation of JSON Schema."""

from typing import Any

import jsonschema
from referencing import Registry

from harpia_formats.schema.load import Schema
from harpia_formats.schema.validator import schema_validator_of
from harpia_formats.validation.unit.row_checks import SecondOpinion

#: Keywords on which the reference engine follows Python and not the standard: its
#: patterns are Python's (`$` before a last newline, `\\d` of any script, no `\\p`), and
#: it divides decimal fractions in binary. They are left out of the comparison.
OWN_WAYS = frozenset({"pattern", "patternProperties", "multipleOf"})


def second_opinion_of(schema: Schema, *, formats: bool = False) -> SecondOpinion:
    """Return the second opinion on verdicts by `schema`, offline.

    Where the schema has keywords that the reference engine reads in its own way, both
    engines are asked about the schema without them.
    """
    common = without_own_ways(schema)
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER if formats else None
    reference = jsonschema.Draft7Validator(
        common, registry=Registry(), format_checker=checker
    )
    ours = None if common == schema else schema_validator_of(common, formats=formats)

    def agrees(value: Any, verdict: bool) -> bool:  # noqa: FBT001 - a verdict is a boolean
        expected = verdict if ours is None else ours.is_valid(value)
        return bool(reference.is_valid(value) == expected)

    return agrees


def without_own_ways(schema: Any) -> Any:
    """Return `schema` without the keywords in `OWN_WAYS`, at every depth."""
    if isinstance(schema, list):
        return [without_own_ways(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _part_without(key, each)
        for key, each in schema.items()
        if key not in OWN_WAYS
    }


def _part_without(keyword: str, part: Any) -> Any:
    if keyword in {"enum", "const", "default"}:
        return part
    if keyword in {"properties", "definitions", "dependencies"} and part:
        return {name: without_own_ways(each) for name, each in part.items()}
    return without_own_ways(part)
