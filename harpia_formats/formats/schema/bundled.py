"""The JSON text of the built-in schemas, and of those of plug-ins."""

from functools import cache
from typing import TYPE_CHECKING

from harpia_formats.files.io.schema_folder import schema_folder
from harpia_formats.formats.extensions.entry_points import packaged_schema

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable
    from pathlib import Path

_SUFFIX = ".schema.json"


@cache
def schema_ids() -> tuple[str, ...]:
    """Return the id of every schema, such as `eee@0.2.0` or `report-1`, sorted."""
    return tuple(sorted(_files()))


def schema_text(identifier: str) -> bytes:
    """Return the text of the schema with this id.

    It is one of `schema_ids`, or `package:name` for the file `name.schema.json` in the
    Python package of a plug-in.
    """
    if ":" in identifier:
        return packaged_schema(identifier)
    return _files()[identifier].read_bytes()


@cache
def _files() -> "dict[str, Path | Traversable]":
    """Return the file of each schema by its id; each vendor has a folder."""
    return {
        file.name.removesuffix(_SUFFIX): file
        for folder in schema_folder().iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
    }
