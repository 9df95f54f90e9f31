"""MT-Bench (FastChat's LLM judge): questions, answers and judgements.

In reading order: `formats`; loaded when they are needed: `mapping`.
"""

from harpia_converters.mt_bench import formats

__all__ = ["formats"]
