"""The detected format of a file without the values of its records."""

from dataclasses import replace

from harpia_formats.formats.detection.result import Detected
from harpia_formats.validation.redaction.reports import reason_without_names


def redacted_detection(found: Detected) -> Detected:
    """Return the format of a file without the evidence, which may name keys."""
    reason = found.reason and reason_without_names(found.reason)
    return replace(found, why="", nearest="", reason=reason)
