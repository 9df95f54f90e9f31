"""The second opinion: the reference implementation of JSON Schema."""

from collections.abc import Callable
from typing import Any

import jsonschema
from referencing import Registry

from harpia_formats.schema import Schema


def second_opinion_of(
    schema: Schema, *, formats: bool = False
) -> Callable[[Any], bool]:
    """Return a function that tells whether a decoded record is valid, offline."""
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER if formats else None
    validator = jsonschema.Draft7Validator(
        schema, registry=Registry(), format_checker=checker
    )
    is_valid: Callable[[Any], bool] = validator.is_valid
    return is_valid
