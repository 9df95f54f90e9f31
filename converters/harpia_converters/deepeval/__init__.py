"""DeepEval: goldens and test cases, with the metrics of a run."""

from harpia_converters.deepeval import cases, rules

__all__ = ["cases", "rules"]
