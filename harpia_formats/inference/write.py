"""Write an inferred schema as text."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harpia_formats.io.sink import SinkError
from harpia_formats.io.urls import is_same_place
from harpia_formats.io.write_file import write_file


def schema_json(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema, with its keys in their order."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schema(
    schema: Mapping[str, Any], place: str, inputs: Iterable[str], *, overwrite: bool
) -> None:
    """Write a schema to a path or URL, which is none of the `inputs`.

    It appears complete or not at all. Raises `SinkError`, also if there is a file
    already, unless `overwrite`.
    """
    if any(is_same_place(place, other) for other in inputs):
        raise SinkError(place, "is an input")
    write_file(place, [schema_json(schema).encode()], overwrite=overwrite)
