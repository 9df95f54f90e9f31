"""Compare verdicts with the reference implementation of JSON Schema."""

from typing import Any

import jsonschema
from referencing import Registry

from harpia_formats.formats.schema.bundled_schemas import Schema, schema_validator_of
from harpia_formats.validation.unit.row_checks import SecondOpinion

#: Keywords on which the reference engine follows Python and not the standard: its
#: patterns are Python's (`$` before a last newline, `\\d` of any script, no `\\p`), and
#: it divides decimal fractions in binary. They are left out of the comparison.
UNCOMPARED_KEYWORDS = frozenset({"pattern", "patternProperties", "multipleOf"})


def second_opinion_of(schema: Schema, *, formats: bool = False) -> SecondOpinion:
    """Return a function that tells whether the reference engine agrees with a verdict.

    If `schema` has keywords that the reference engine does not follow the standard in,
    both engines validate by the schema without them. It agrees with any verdict on a
    record that is too deep for it. Nothing is downloaded.
    """
    common = without_uncompared(schema)
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER if formats else None
    reference = jsonschema.Draft7Validator(
        common, registry=Registry(), format_checker=checker
    )
    ours = None if common == schema else schema_validator_of(common, formats=formats)

    def agrees(value: Any, verdict: bool) -> bool:  # noqa: FBT001 - a verdict is a boolean
        expected = verdict if ours is None else ours.is_valid(value)
        try:
            return bool(reference.is_valid(value) == expected)
        except RecursionError:  # it follows fewer levels than records may have
            return True

    return agrees


def without_uncompared(schema: Any) -> Any:
    """Return `schema` without the keywords in `UNCOMPARED_KEYWORDS`, at every depth."""
    if isinstance(schema, list):
        return [without_uncompared(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _part_without(key, part)
        for key, part in schema.items()
        if key not in UNCOMPARED_KEYWORDS
    }


def _part_without(keyword: str, part: Any) -> Any:
    """Return the value of a keyword without `UNCOMPARED_KEYWORDS` in its schemas."""
    if keyword in {"enum", "const", "default"}:
        return part
    if keyword in {"properties", "definitions", "dependencies"} and part:
        return {name: without_uncompared(member) for name, member in part.items()}
    return without_uncompared(part)
