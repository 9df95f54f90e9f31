"""The scripts of `docs/tools`, which are no package, as modules."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

_FOLDER = str(Path(__file__).parents[2] / "docs" / "tools")


def docs_tool(name: str) -> ModuleType:
    """Return the script with this name as a module."""
    if _FOLDER not in sys.path:
        sys.path.append(_FOLDER)
    return importlib.import_module(name)
