"""Inspect AI: logs of evaluations, and data sets.

In reading order: `formats`; loaded when they are needed: `archive_text`, `messages`,
`log_checks`, `log_mapping`, `dataset_mapping` and `profile`.
"""

from harpia_converters.inspect_ai import formats

__all__ = ["formats"]
