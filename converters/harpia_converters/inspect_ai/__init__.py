"""Inspect AI: logs of evaluations, and data sets."""

from harpia_converters.inspect_ai import archive

__all__ = ["archive"]
