"""CER: the edits of characters that turn answers into references, by characters.

Source: jiwer, which computes the character error rate of speech recognition. White
space at the ends does not count, within a text it does. Scores start at 0, lower is
better, and they may exceed 1.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.text.edit_rate import edit_rate

DEFAULTS = {
    "normalisation": "none",
    "no_punct": False,
    "references": "best",
    "scale": "0-1",
}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    return edit_rate("cer", DEFAULTS, given, lambda _: ("tok:character", str.strip))


METRIC = Metric(
    "cer",
    "The character error rate of all answers together, as jiwer computes it: the edits "
    "of characters by the characters of the references; lower is better, and it may "
    "exceed 1.",
    DEFAULTS,
    _measure_of,
    is_pooled=True,
)
