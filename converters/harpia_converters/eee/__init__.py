"""EvalEval "Every Eval Ever": instance-level records, and their aggregates."""

from harpia_converters.eee import aggregate, companion, current, rules, seed, tag

__all__ = ["aggregate", "companion", "current", "rules", "seed", "tag"]
