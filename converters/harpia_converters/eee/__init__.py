"""EvalEval "Every Eval Ever": three versions of its samples, and its aggregates."""

from harpia_converters.eee import (
    aggregate,
    companion,
    rules,
    v0_2_0,
    v0_2_0_tag,
    v0_3_0,
)

__all__ = ["aggregate", "companion", "rules", "v0_2_0", "v0_2_0_tag", "v0_3_0"]
