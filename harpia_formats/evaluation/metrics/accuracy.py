"""Accuracy: the share of answers that equal a reference exactly, from 0 to 1.

It is exact match without normalisation, so case, spaces and punctuation count.
"""

from harpia_formats.evaluation.metrics.exact_match import DEFAULTS as EXACT_MATCH
from harpia_formats.evaluation.metrics.exact_match import measure_of
from harpia_formats.evaluation.metrics.metric import Metric

DEFAULTS = {**EXACT_MATCH, "normalisation": "none"}
METRIC = Metric(
    "accuracy",
    "The share of answers that equal a reference, character by character.",
    DEFAULTS,
    lambda given: measure_of("accuracy", DEFAULTS, given),
)
