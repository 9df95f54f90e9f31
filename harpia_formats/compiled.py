"""Compile expressions that are made of names that we chose."""

from typing import Any


def compiled(text: str, /, **names: Any) -> Any:
    """Return the value of an expression, in which `names` stand for values."""
    # There is nothing of a file in it but quoted keys.
    return eval(text, names)  # noqa: S307 - see above
