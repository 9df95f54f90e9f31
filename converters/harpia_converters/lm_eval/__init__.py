"""lm-evaluation-harness: samples of its tasks, and the results beside them."""

from harpia_converters.lm_eval import results, rules, samples

__all__ = ["results", "rules", "samples"]
