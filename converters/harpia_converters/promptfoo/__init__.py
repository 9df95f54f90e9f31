"""promptfoo: the results of an evaluation, test by test."""

from harpia_converters.promptfoo import results, rules

__all__ = ["results", "rules"]
