"""Length: the mean number of characters, words and tokens of the answers.

Words are those of the tokenizer `unicode` of ROUGE: runs of letters and digits, and
single characters in scripts without spaces. Tokens end at white space. No length is
better than another.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import means
from harpia_formats.evaluation.metrics.metric import Measure, Metric, Sample, Statistics
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.text.lengths import LENGTHS

DEFAULTS: dict[str, Any] = {}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    read_parameters("length", DEFAULTS, given)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:  # noqa: ARG001 - as all metrics
        return (*(float(length(answer)) for length in LENGTHS.values()), 1.0)

    def of_sample(sample: Sample) -> Statistics:
        return statistics(sample.answer or "", ())

    return Measure(
        tuple(LENGTHS),
        f"length|{OWN_LIBRARY}|words:unicode|tokens:whitespace|scale:any",
        "any",
        statistics,
        means(len(LENGTHS)),
        is_mean=True,
        lower_is_better=None,
        needs=("answer",),
        of_sample=of_sample,
    )


METRIC = Metric(
    "length",
    "The mean length of the answers in characters, words and tokens between white "
    "space; it needs no reference, and no length is the best.",
    DEFAULTS,
    _measure_of,
)
