"""Test support for formats, those of this project and those of extensions.

`records` and `filled` need Hypothesis, which the extra `test` installs; it is loaded
when one of them is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harpia_formats.testing.mutation import mutants

if TYPE_CHECKING:  # `mutants` works without Hypothesis
    from harpia_formats.testing.strategies import filled, records

__all__ = ["filled", "mutants", "records"]


def __getattr__(name: str) -> Any:
    """Return `filled` or `records`; raises `AttributeError` for any other name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("harpia_formats.testing.strategies"), name)
