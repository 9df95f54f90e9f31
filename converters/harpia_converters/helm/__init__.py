"""HELM: run folders with requests, completions and statistics of each instance."""

from harpia_converters.helm import rules, run

__all__ = ["rules", "run"]
