"""RAGAS: samples of retrieval-augmented generation, with the scores of a run.

In reading order: `formats`; loaded when they are needed: `mapping` and `lints`.
"""

from harpia_converters.ragas import formats

__all__ = ["formats"]
