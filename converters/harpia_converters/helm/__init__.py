"""HELM: run folders with requests, completions and statistics of each instance.

In reading order: `formats`; loaded when they are needed: `run_folder` and
`mapping`.
"""

from harpia_converters.helm import formats

__all__ = ["formats"]
