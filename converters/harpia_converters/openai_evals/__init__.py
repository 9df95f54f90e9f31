"""OpenAI evals: samples of an eval, and logs of its runs.

In reading order: `formats`; loaded when they are needed: `log_unpacking` and `mapping`.
"""

from harpia_converters.openai_evals import formats

__all__ = ["formats"]
