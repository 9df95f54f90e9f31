"""Support for tests: of data in any test suite, and of formats and extensions.

`assert_valid` fails a test if data is not valid. `records`, `filled` and `mutants` are
for tests of formats; the first two need Hypothesis. Each is loaded when it is first
used, since pytest imports this package in every run.
"""

from importlib import import_module

#: What type checkers take for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harpia_formats.testing.assertion import assert_valid
    from harpia_formats.testing.mutation import mutants
    from harpia_formats.testing.strategies import filled, records

__all__ = ["assert_valid", "filled", "mutants", "records"]

_MODULES = {
    "assert_valid": "assertion",
    "filled": "strategies",
    "mutants": "mutation",
    "records": "strategies",
}


def __getattr__(name: str) -> "Any":
    """Return a public name of this package; raises `AttributeError` for any other."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"harpia_formats.testing.{_MODULES[name]}")
    return getattr(module, name)
