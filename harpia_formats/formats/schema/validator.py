"""The schema validator: exact verdicts and errors, without network access."""

import jsonschema_rs

from harpia_formats.formats.schema.bundled_schemas import Schema

#: What stands for a value in the messages of the engine.
MASK = "…"


def schema_validator_of(
    schema: Schema, *, formats: bool = False
) -> jsonschema_rs.Draft7Validator:
    """Return the schema validator for `schema`; `formats` checks the keyword `format`.

    Patterns run in linear time, unless one needs look-around or back-references: then
    the engine with backtracking is used, which may give up. Its messages do not show
    the record, since they are not used and take long to write. Raises
    `jsonschema_rs.ValidationError` or `ValueError` if the schema cannot be used.
    """
    try:
        return jsonschema_rs.Draft7Validator(
            schema,
            offline=True,
            validate_formats=formats,
            mask=MASK,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError:
        return jsonschema_rs.Draft7Validator(
            schema, offline=True, validate_formats=formats, mask=MASK
        )
