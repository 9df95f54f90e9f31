"""Find the folder of the schemas, which are data beside the code."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # only installations in zip files need it
    from importlib.resources.abc import Traversable


def schema_folder() -> "Path | Traversable":
    """Return the folder of all schemas, in an installation or in a checkout."""
    here = Path(__file__).parents[2]
    for folder in (here / "_schemas", here.parent / "schemas"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # noqa: PLC0415 - slow, and for zip files only

    return files("harpia_formats") / "_schemas"
