"""Support for tests: of data in any test suite, and of formats and extensions.

`assert_valid` fails a test if data is not valid. `records`, `filled` and `mutants` are
for tests of formats. Each is loaded when it is first used, since pytest imports this
package in every run; `records` needs Hypothesis when it is called.
"""

from importlib import import_module

#: What type checkers take for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hypothesis.strategies import SearchStrategy

    from harpia_formats.api.testing.assertion import assert_valid
    from harpia_formats.api.testing.mutation import mutants
    from harpia_formats.model.record import Record

__all__ = ["assert_valid", "filled", "mutants", "records"]

_MODULES = {"assert_valid": "assertion", "mutants": "mutation"}


def records(
    always: "Mapping[str, SearchStrategy[Any]] | None" = None,
) -> "SearchStrategy[Record]":
    """Return a strategy for records of every shape that have the fields in `always`.

    Raises `ImportError`, whose message names the extra, if Hypothesis is not installed.
    """
    try:
        strategies = import_module("harpia_formats.api.testing.strategies")
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        message = (
            "records() needs Hypothesis, which the extra `test` of harpia-formats "
            "installs: pip install 'harpia-formats[test]'"
        )
        raise ImportError(message, name=error.name) from error
    made: SearchStrategy[Record] = strategies.records(always)
    return made


def filled(record: "Record") -> "Record":
    """Return `record`, with a prompt if it has neither a prompt nor messages."""
    from msgspec import UNSET  # noqa: PLC0415 - pytest imports this package in every run
    from msgspec.structs import replace  # noqa: PLC0415 - pytest imports this package in every run

    if record.prompt is UNSET and record.messages is UNSET:
        return replace(record, prompt="q")
    return record


def __getattr__(name: str) -> "Any":
    """Return a public name of this package; raises `AttributeError` for any other."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"harpia_formats.api.testing.{_MODULES[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
