"""The schema validator: the exact schema engine, offline."""

import jsonschema_rs

from harpia_formats.schema.load import Schema


def schema_validator_of(
    schema: Schema, *, formats: bool = False
) -> jsonschema_rs.Draft7Validator:
    """Return the exact engine for `schema`, offline.

    Patterns run in linear time; only one that needs look-around or back-references
    gets the engine that may give up. What it says of a record in words does not show
    the record: we say it in our own words, and writing it takes long.
    """
    try:
        return jsonschema_rs.Draft7Validator(
            schema,
            offline=True,
            validate_formats=formats,
            mask="…",
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError:
        return jsonschema_rs.Draft7Validator(
            schema, offline=True, validate_formats=formats, mask="…"
        )
