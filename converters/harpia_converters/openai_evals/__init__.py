"""OpenAI evals: samples of an eval, and logs of its runs."""

from harpia_converters.openai_evals import log, rules, samples

__all__ = ["log", "rules", "samples"]
