"""EvalEval "Every Eval Ever": three versions of its samples, and its aggregates.

In reading order: `versions`, `formats`, `rules` and `lint_rules`; loaded when they are
needed: `fields`, `turns`, `mapping`, `repairs`, `aggregate_writer`, `results_writer`,
`row_members`, `turn_lints`, `result_lints`, `key_lints`, `file_counts`, `lints` and
`aggregate_checks`.
"""

from harpia_converters.eee import formats, rules

__all__ = ["formats", "rules"]
