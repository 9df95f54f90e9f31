"""promptfoo: the results of an evaluation, test by test.

In reading order: `formats`; loaded when they are needed: `mapping`.
"""

from harpia_converters.promptfoo import formats

__all__ = ["formats"]
