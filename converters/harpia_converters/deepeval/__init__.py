"""DeepEval: goldens and test cases, with the metrics of a run.

In reading order: `formats`; loaded when they are needed: `mapping`.
"""

from harpia_converters.deepeval import formats

__all__ = ["formats"]
