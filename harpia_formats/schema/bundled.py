"""The schemas that ship with us and with plug-ins, as they are written."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.entry_points import packaged_schema

if TYPE_CHECKING:  # few installations need it
    from importlib.resources.abc import Traversable

_SUFFIX = ".schema.json"


@cache
def schema_ids() -> tuple[str, ...]:
    """Return the id of every schema, such as `eee@0.2.0` or `report-1`, sorted."""
    names = (each.name for each in _folder().iterdir())
    return tuple(sorted(each.removesuffix(_SUFFIX) for each in names))


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
    here = Path(__file__).parents[1]
    for each in (here / "_schemas", here.parent / "schemas"):
        if each.is_dir():
            return each
    from importlib.resources import files  # noqa: PLC0415 - takes long; only for zip files

    return files("harpia_formats") / "_schemas"
