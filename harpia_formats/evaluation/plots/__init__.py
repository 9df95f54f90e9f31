"""Charts as HTML with inline SVG: pure functions from numbers to text.

A chart fills the width that it is given, so that it is readable on a telephone. It has
a title, a description and its numbers as a table, for those who do not see it. Its
colours are variables of `STYLE`, which a page with charts has once in a style element;
marks differ by shape or lightness too, for prints in grey. What is too little to draw
is said in a sentence.

>>> from harpia_formats.evaluation.plots import Bar, bars
>>> bars("rules", "Findings by rule", [Bar("S101 wrong-type", 12), Bar("J101", 3)])[:20]
'<figure class="plot"'
"""

from harpia_formats.evaluation.plots.bars import Bar, bars
from harpia_formats.evaluation.plots.histogram import histogram
from harpia_formats.evaluation.plots.intervals import Interval, intervals
from harpia_formats.evaluation.plots.style import EMBEDDED, EMBEDDED_STYLE, STYLE
from harpia_formats.model.bins import Bin, LengthCounts

__all__ = [
    "EMBEDDED",
    "EMBEDDED_STYLE",
    "STYLE",
    "Bar",
    "Bin",
    "Interval",
    "LengthCounts",
    "bars",
    "histogram",
    "intervals",
]
