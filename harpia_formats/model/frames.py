"""Import the libraries of data frames, which the extra `notebook` installs."""

from importlib import import_module
from typing import Any


def frame_library(name: str) -> Any:
    """Return the module of a library of data frames.

    Raises `ImportError`, whose message names the extra, if it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        hint = "pip install 'harpia-formats[notebook]'"
        message = f"a data frame of {name} needs {name}: {hint}"
        raise ModuleNotFoundError(message, name=name) from None
