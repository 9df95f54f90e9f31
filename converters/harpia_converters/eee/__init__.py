"""EvalEval "Every Eval Ever": instance-level records, in three shapes."""

from harpia_converters.eee import current, rules, seed, tag

__all__ = ["current", "rules", "seed", "tag"]
