"""Scores as one JSON object, which a published schema describes."""

from collections.abc import Iterator

from harpia_formats.model.result import Result
from harpia_formats.model.text.json_text import json_text


def lines(result: Result, *, csv_safe: bool) -> Iterator[str]:  # noqa: ARG001 - the same for each form
    """Yield the plain data of a result as JSON."""
    yield json_text(result.to_dict(), indent=True)
