"""maj@k: the chance that the majority of k answers to a question is correct.

Source: Wang and others, Self-Consistency Improves Chain of Thought Reasoning in
Language Models (2022), and maj1@k of Lewkowycz and others, Solving Quantitative
Reasoning Problems with Language Models (2022). Of n answers to a question all sets of k
count alike: the score is the share of them whose most frequent answer is correct, where
answers that are equally frequent share a set. The score of many questions is the mean
of theirs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.correctness import DEFAULTS as CORRECTNESS
from harpia_formats.evaluation.metrics.correctness import (
    Correctness,
    read_with_correctness,
)
from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.majority import MOST, majority_at_k
from harpia_formats.evaluation.metrics.mean import question_measure
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Metric,
    MetricError,
    QuestionMeasure,
    Sample,
    Statistics,
)
from harpia_formats.evaluation.metrics.parameters import Parameters
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS
from harpia_formats.evaluation.metrics.text.text_digest import text_number

NAME = "maj@k"
#: Which answers are the same: those that are equal after a normalisation, or, if None,
#: what the metric that tells what is correct says.
DEFAULTS = {"k": 1, **CORRECTNESS, "same": None}
#: The largest k, since the work grows with its square.
LARGEST = 100
#: The statistics of a missing answer: all missing ones are the same, wrong answer.
_MISSING = (-1.0, 0.0, 1.0)


def _measure_of(given: Mapping[str, Any]) -> Measure:
    return measure_with(*read_with_correctness(NAME, DEFAULTS, given))


def measure_with(parameters: Parameters, correctness: Correctness) -> Measure:
    """Return maj@k of answers that are correct by `correctness`.

    Raises `MetricError` for a bad value of `k` or `same`.
    """
    every_k = parameters.wholes("k", 1, LARGEST)
    same = same_answer_of(parameters, correctness.same_answer)

    def of_sample(sample: Sample) -> Statistics:
        return statistics_of(same(sample), correctness.of(sample))

    chosen = parameters.values["same"]
    return question_measure(
        [f"maj@{k}" for k in every_k],
        f"{NAME}|{OWN_LIBRARY}|ties:shared|same:{chosen or 'by-metric'}"
        f"|{correctness.signature}",
        of_sample,
        QuestionMeasure(lambda answers: _scores(answers, every_k), every_k, _MISSING),
        needs=correctness.needs,
        uses=correctness.uses,
        reads=correctness.reads,
    )


def same_answer_of(
    parameters: Parameters, of_metric: Callable[[Sample], str] | None
) -> Callable[[Sample], str]:
    """Return what tells which answers are the same; raises `MetricError`."""
    if parameters.values["same"] is not None or of_metric is None:
        chosen = parameters.choice("same", tuple(NORMALISATIONS))
        normal = NORMALISATIONS[chosen]
        return lambda sample: normal(sample.answer or "")
    return of_metric


def statistics_of(answer: str, correct: float) -> Statistics:
    """Return the statistics of an answer, which has the same text as its equals."""
    return text_number(answer), correct, 1.0


def _scores(
    answers: Mapping[Statistics, int], every_k: tuple[int, ...]
) -> tuple[float | None, ...]:
    """Return the score of a question for each k, None if it has fewer answers.

    Raises `MetricError` if it has too many.
    """
    counts: dict[float, list[int]] = {}
    for (answer, is_correct, _), count in answers.items():
        found = counts.setdefault(answer, [0, 0])
        found[0] += count
        found[1] += count if is_correct else 0
    every = tuple(sorted((given, right) for given, right in counts.values()))
    total = sum(given for given, _ in every)
    return tuple(_score(every, total, k) if k <= total else None for k in every_k)


def _score(answers: tuple[tuple[int, int], ...], total: int, k: int) -> float:
    if k < total and k * total > MOST:
        raise MetricError(
            f"a question has {total:,} answers, of which maj@{k} would take too long: "
            f"k times the answers must be at most {MOST:,}"
        )
    return majority_at_k(answers, k)


METRIC = Metric(
    NAME,
    "The mean over questions of the chance that the most frequent of k answers is "
    "correct, over all sets of k of the answers to the question; ties are shared. "
    "`correct` is the metric that tells, and which answers are the same follows from "
    "it, or from `same`, a normalisation; `maj@5` is a name for k = 5.",
    DEFAULTS,
    _measure_of,
)
