"""What became of each field in a conversion, as its table of losses says."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.conversion.losses.conversion_report import FieldLine, field_lines


def field_lines_in(report: Any) -> Mapping[str, FieldLine]:
    """Return the line of each field in the report of a conversion, by its name."""
    return {each.name: each for each in field_lines(report.losses)}
