"""Write an inferred schema as text."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harpia_formats.files.io.files_read import FilesRead
from harpia_formats.files.io.write_file import write_file
from harpia_formats.formats.registry import all_unpackers


def schema_json(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema, with its keys in their order."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schema(
    schema: Mapping[str, Any],
    place: str,
    inputs: Iterable[str],
    *,
    exclude: Iterable[str] = (),
    overwrite: bool,
) -> None:
    """Write a schema to a path or URL, which is none of the `inputs`.

    It appears complete or not at all. Raises `SinkError`, also if there is a file
    already, unless `overwrite`.
    """
    FilesRead(inputs, exclude=exclude, unpackers=all_unpackers()).check(place)
    write_file(place, [schema_json(schema).encode()], overwrite=overwrite)
