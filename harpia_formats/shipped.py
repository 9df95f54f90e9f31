"""The schemas that ship with us, as they are written."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_SUFFIX = ".schema.json"


@cache
def schema_ids() -> tuple[str, ...]:
    """Return the id of every schema, such as `eee@0.2.0` or `report-1`, sorted."""
    names = (each.name for each in _folder().iterdir())
    return tuple(sorted(each.removesuffix(_SUFFIX) for each in names))


def schema_text(identifier: str) -> bytes:
    """Return the schema with this id, which must be one of `schema_ids`."""
    return (_folder() / f"{identifier}{_SUFFIX}").read_bytes()


def _folder() -> Traversable:
    installed = files("harpia_formats") / "_schemas"
    checkout = Path(__file__).parents[1] / "schemas"
    return installed if installed.is_dir() else checkout
