"""NVIDIA NeMo Evaluator: questions, answers, results and configurations.

In reading order: `formats` and `rules`; loaded when they are needed: `mapping`,
`lints`, `results_writer` and `profile`.
"""

from harpia_converters.nemo import formats, rules

__all__ = ["formats", "rules"]
