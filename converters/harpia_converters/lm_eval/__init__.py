"""lm-evaluation-harness: samples of its tasks, and the results next to them.

In reading order: `formats` and `rules`; loaded when they are needed: `task_totals`,
`sample_fields`, `mapping`, `lints` and `profile`.
"""

from harpia_converters.lm_eval import formats, rules

__all__ = ["formats", "rules"]
