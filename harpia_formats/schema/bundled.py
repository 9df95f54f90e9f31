"""The JSON text of the built-in schemas, and of those of plug-ins."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.extensions.entry_points import packaged_schema

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable

_SUFFIX = ".schema.json"


@cache
def schema_ids() -> tuple[str, ...]:
    """Return the id of every schema, such as `eee@0.2.0` or `report-1`, sorted."""
    names = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names))


def schema_text(identifier: str) -> bytes:
    """Return the text of the schema with this id.

    It is one of `schema_ids`, or `package:name` for the file `name.schema.json` in the
    Python package of a plug-in.
    """
    if ":" in identifier:
        return packaged_schema(identifier)
    return (_folder() / f"{identifier}{_SUFFIX}").read_bytes()


@cache
def _folder() -> "Path | Traversable":
    """Return the folder of the schemas, in an installation or in a checkout."""
    here = Path(__file__).parents[1]
    for folder in (here / "_schemas", here.parent / "schemas"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # noqa: PLC0415 - slow, and for zip files only

    return files("harpia_formats") / "_schemas"
