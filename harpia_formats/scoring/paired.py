"""The difference of two systems on the same questions: interval, p-value and size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harpia_formats.scoring.bootstrap import PoissonBootstrap, limits_of
from harpia_formats.scoring.intervals import FEW, LEAST
from harpia_formats.scoring.p_values import PairedTest
from harpia_formats.scoring.paired_answers import PairedAnswers
from harpia_formats.scoring.student import t_quantile

#: The normal quantile of a power of 80 %.
_POWER = 0.8416212335729143
#: What rounding leaves of a standard error that is 0.
_ROUNDING = 1e-12
#: Questions whose statistics are resampled together.
_PART = 8192
FEW_DIFFER = "few questions differ: the interval is approximate"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one score between two systems on the same questions."""

    #: The score of the first system minus that of the second.
    difference: float
    #: The confidence interval of the difference.
    low: float
    high: float
    #: The chance of a difference this large, in either direction, if the systems were
    #: equal.
    p_value: float
    #: Whether it is the least p-value that the drawn replicates or exchanges allow.
    is_least: bool = False
    #: The test, and the method of the interval, with their parameters.
    test: str = ""
    method: str = ""
    #: The smallest difference that as many questions detect with a power of 80 %, None
    #: if the systems do not differ on any question, or if it is `beyond_scale`.
    detectable: float | None = None
    #: The same difference if it is larger than the scale of the score, so that as many
    #: questions detect none.
    beyond_scale: float | None = None
    #: Why the interval is approximate, "" if it is not.
    remark: str = ""


def compare_paired(answers: PairedAnswers, test: PairedTest) -> list[Comparison | None]:
    """Return the difference of each score of a metric between two systems.

    A result is None for a score that a system lacks, and for fewer than two questions.
    Raises `ScoreError` if McNemar's test is asked for and does not fit the answers.
    """
    names = len(answers.scores(()))
    if len(answers.keys) < LEAST:
        return [None] * names
    replicated = _replicated_differences(answers, test)
    return [_comparison(answers, at, test, replicated[at]) for at in range(names)]


def _comparison(
    answers: PairedAnswers, at: int, test: PairedTest, replicated: Sequence[float]
) -> Comparison | None:
    limits, difference = limits_of(replicated, test.level), answers.difference(at)
    if difference is None or limits is None:
        return None
    p_value = test.p_value(answers, at, difference, replicated)
    detectable = _detectable(answers, at, replicated, test.level)
    is_beyond = detectable is not None and detectable > answers.widest
    return Comparison(
        difference,
        *limits,
        p_value.value,
        p_value.is_least,
        p_value.test,
        test.method,
        None if is_beyond else detectable,
        detectable if is_beyond else None,
        "" if answers.differing() >= FEW else FEW_DIFFER,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number, in the same order.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure (1979).
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [1.0] * len(p_values)
    most = 0.0
    for rank, at in enumerate(order):
        most = max(most, min(p_values[at] * (len(order) - rank), 1.0))
        adjusted[at] = most
    return adjusted


def questions_for(difference: float, detectable: float, questions: int) -> int:
    """Return how many questions detect `difference` with a power of 80 %.

    `detectable` is what `questions` of them detect.
    """
    return max(math.ceil(questions * (detectable / difference) ** 2), LEAST)


def _replicated_differences(
    answers: PairedAnswers, test: PairedTest
) -> list[list[float]]:
    """Return the difference of each score in each replicate that has it."""
    width = len(answers.first[0])
    bootstrap = PoissonBootstrap(test.replicates, test.seed)
    # A part at a time, since both statistics of all questions would take much memory.
    for start in range(0, len(answers.keys), _PART):
        part = slice(start, start + _PART)
        pairs = zip(answers.first[part], answers.second[part], strict=True)
        bootstrap.add(answers.keys[part], [(*one, *other) for one, other in pairs])
    replicated = bootstrap.replicated(
        lambda sums: answers.scores(sums[:width]) + answers.scores(sums[width:])
    )
    columns = list(zip(*replicated, strict=True))
    half = len(columns) // 2
    return [
        [a - b for a, b in zip(one, other, strict=True) if None not in (a, b)]
        for one, other in zip(columns[:half], columns[half:], strict=True)
    ]


def _detectable(
    answers: PairedAnswers, at: int, replicated: Sequence[float], level: float
) -> float | None:
    """Return the smallest difference that is detected with a power of 80 %."""
    questions = len(answers.keys)
    parts = answers.parts(at)
    if parts is None:
        mean = math.fsum(replicated) / len(replicated)
        squares = math.fsum((value - mean) ** 2 for value in replicated)
        variance = squares / len(replicated)
    else:
        mean = math.fsum(parts) / questions
        squares = math.fsum((part - mean) ** 2 for part in parts)
        variance = squares * questions / (questions - 1)
    error = math.sqrt(variance)
    if error <= _ROUNDING * max(abs(mean), 1):
        return None
    return (t_quantile((1 + level) / 2, questions - 1) + _POWER) * error
