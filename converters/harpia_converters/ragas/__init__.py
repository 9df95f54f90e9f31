"""RAGAS: samples of retrieval-augmented generation, with the scores of a run."""

from harpia_converters.ragas import rules, samples

__all__ = ["rules", "samples"]
