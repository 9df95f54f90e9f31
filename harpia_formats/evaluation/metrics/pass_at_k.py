"""pass@k: the chance that at least one of k answers to a question is correct.

Source: Chen and others, Evaluating Large Language Models Trained on Code (2021). Of n
answers to a question, c are correct; of all sets of k of them, the share that holds a
correct one is 1 - C(n - c, k) / C(n, k), an unbiased estimate. The score of many
questions is the mean of theirs.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import comb
from typing import Any

from harpia_formats.evaluation.metrics.correctness import DEFAULTS as CORRECTNESS
from harpia_formats.evaluation.metrics.correctness import (
    Correctness,
    read_with_correctness,
)
from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import question_measure
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    QuestionMeasure,
    Sample,
    Statistics,
)
from harpia_formats.evaluation.metrics.parameters import Parameters

NAME = "pass@k"
DEFAULTS = {"k": 1, **CORRECTNESS}


@lru_cache(maxsize=1 << 16)
def pass_at_k(answers: int, correct: int, k: int) -> float:
    """Return the share of the sets of `k` of the answers that hold a correct one.

    `k` is at least 1 and at most the number of answers. The share is computed with
    integers and rounded once.
    """
    every = comb(answers, k)
    return (every - comb(answers - correct, k)) / every


def _measure_of(given: Mapping[str, Any]) -> Measure:
    return measure_with(*read_with_correctness(NAME, DEFAULTS, given))


def measure_with(parameters: Parameters, correctness: Correctness) -> Measure:
    """Return pass@k of answers that are correct by `correctness`.

    Raises `MetricError` for a bad value of `k`.
    """
    every_k = parameters.wholes("k", 1)

    def of_sample(sample: Sample) -> Statistics:
        return correctness.of(sample), 1.0

    def scores(answers: Mapping[Statistics, int]) -> tuple[float | None, ...]:
        count = sum(answers.values())
        correct = answers.get((1.0, 1.0), 0)
        return tuple(
            pass_at_k(count, correct, k) if k <= count else None for k in every_k
        )

    return question_measure(
        [f"pass@{k}" for k in every_k],
        f"{NAME}|{OWN_LIBRARY}|{correctness.signature}",
        of_sample,
        QuestionMeasure(scores, every_k, missing=(0.0, 1.0)),
        needs=correctness.needs,
        uses=correctness.uses,
        reads=correctness.reads,
    )


METRIC = Metric(
    NAME,
    "The mean over questions of the chance that at least one of k answers is correct, "
    "estimated without bias from all answers to the question: 1 - C(n-c, k) / C(n, k) "
    "for c correct ones of n. `correct` is the metric that tells, `pass@5` a name "
    "for k = 5.",
    DEFAULTS,
    _measure_of,
)
