"""HarpIA Lab: the input of an evaluation, its output and its log.

In reading order: `header_checks`, `formats` and `rules`; loaded when they are needed:
`parameter_checks`, `mapping`, `lints`, `profile` and `results_writer`.
"""

from harpia_converters.harpia import formats, rules

__all__ = ["formats", "rules"]
