"""acc and acc_norm of lm-eval: whether the right choice has the highest likelihood.

Source: lm-evaluation-harness 0.4, for tasks of the type multiple_choice. It needs the
stored log-likelihood of each choice, and no answer.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import sample_mean_measure
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    Sample,
    UnscorableError,
)
from harpia_formats.evaluation.metrics.parameters import read_parameters, yes_no

NAME = "lm-eval-acc"
DEFAULTS = {"by_length": False}
NEEDS = ("references", "choices", "likelihoods")


def _measure_of(given: Mapping[str, Any]) -> Measure:
    by_length = read_parameters(NAME, DEFAULTS, given).flag("by_length")

    def score(sample: Sample) -> float:
        choices, likelihoods = sample.choices, list(sample.likelihoods or ())
        # A task that compares with likelihoods without a context has these behind them.
        if len(likelihoods) not in {len(choices), 2 * len(choices)}:
            raise UnscorableError(
                f"there are {len(likelihoods)} likelihoods of {len(choices)} choices"
            )
        right = sample.references[0]
        if choices.count(right) != 1:
            raise UnscorableError("the reference is not one of the choices, or several")
        values = [
            value / (len(choice) or 1) if by_length else value
            for value, choice in zip(likelihoods, choices, strict=False)
        ]
        return float(values.index(max(values)) == choices.index(right))

    signature = f"{NAME}|{OWN_LIBRARY}|by-length:{yes_no(by_length)}|refs:first"
    return sample_mean_measure(NAME, signature, score, NEEDS, is_binary=True)


METRIC = Metric(
    NAME,
    "The share of records whose right choice has the highest stored log-likelihood, by "
    "its length or not, as lm-eval's acc_norm and acc of multiple choice.",
    DEFAULTS,
    _measure_of,
)
