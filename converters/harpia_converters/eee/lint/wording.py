"""How the remarks on a row show its values."""

from typing import Any

from harpia_formats.model.text.describe import short_json


def quoted(value: Any) -> str:
    """Return `value` as short JSON text."""
    try:
        return short_json(value)
    except ValueError:  # a sum may have more digits than its parts
        return "a number of more digits than Python writes"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 turn` or `3 turns`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
