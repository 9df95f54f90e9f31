"""Haystack: an evaluator's columns, results and definition, and evaluation runs."""

from harpia_converters.haystack import columns, evaluator, results, rules, run

__all__ = ["columns", "evaluator", "results", "rules", "run"]
