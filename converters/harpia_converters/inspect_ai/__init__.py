"""Inspect AI: logs of evaluations, and data sets."""

from harpia_converters.inspect_ai import archive, dataset, log, rules

__all__ = ["archive", "dataset", "log", "rules"]
