"""The mean of the BLEU of single answers, as sacrebleu's `sentence_bleu` defines it.

Source: Post, A Call for Clarity in Reporting BLEU Scores (2018). Scores are from 0 to
100, or from 0 to 1 with the parameter `scale`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.bleu import DEFAULTS as CORPUS
from harpia_formats.evaluation.metrics.bleu import bleu_of
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters

DEFAULTS = {**CORPUS, "effective_order": True, "scale": "0-100"}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("sentence-bleu", DEFAULTS, given)
    bleu, scale = bleu_of(parameters), parameters.scale()

    def score(answer: str, references: Sequence[str]) -> float:
        return bleu.score(bleu.counts(answer, references)) / 100

    return mean_measure("sentence-bleu", f"sentence-bleu|{bleu.options}", score, scale)


METRIC = Metric(
    "sentence-bleu",
    "The mean of sacrebleu's BLEU of each answer, with effective order.",
    DEFAULTS,
    _measure_of,
)
