"""Haystack: an evaluator's columns, results and definition, and evaluation runs.

In reading order: `detection`, `definition_checks`, `formats` and `rules`; loaded when
they are needed: `mapping`, `lints`, `results_writer`, `profile`, `judges` and
`component`.
"""

from harpia_converters.haystack import formats, rules

__all__ = ["formats", "rules"]
