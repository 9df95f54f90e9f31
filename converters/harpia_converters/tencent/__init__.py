"""Tencent Cloud TI Platform: evaluation sets, in three kinds of rows and as a table.

In reading order: `formats`; loaded when they are needed: `conversations`, `mapping`,
`lints` and `profile`.
"""

from harpia_converters.tencent import formats

__all__ = ["formats"]
