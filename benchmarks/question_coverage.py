"""Measure how often intervals of pass@k and maj@k hold the truth, on simulated answers.

Of each question some answers are drawn: correct ones with a chance that differs between
questions, and wrong ones of which each is equally likely.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, exp, factorial, lgamma
from typing import Any

from harpia_formats.evaluation.metrics.question_metrics import majority_at_k, pass_at_k
from harpia_formats.evaluation.scoring.measures.question_scores import QuestionTotals
from harpia_formats.evaluation.scoring.significance.bootstrap import LEVEL
from harpia_formats.evaluation.scoring.significance.intervals import wilson_interval

#: Numbers of questions, the mean chance of a correct answer, and c.
CELLS = (
    (30, 0.3, 1.0),
    (30, 0.5, 4.0),
    (50, 0.2, 4.0),
    (50, 0.6, 1.0),
    (100, 0.05, 1.0),
    (100, 0.3, 4.0),
    (500, 0.02, 1.0),
    (500, 0.4, 4.0),
)
#: Different wrong answers to a question.
WRONG = 3


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of questions, and the answers that each question has."""

    name: str
    k: int
    #: The fewest and the most answers to a question.
    answers: tuple[int, int]
    is_majority: bool = False

    def score(self, counts: Sequence[int]) -> float:
        """Return the score of a question: correct answers, and each wrong one."""
        if not self.is_majority:
            return pass_at_k(sum(counts), counts[0], self.k)
        groups = [(count, 0 if at else count) for at, count in enumerate(counts)]
        return majority_at_k(
            tuple(sorted(group for group in groups if group[0])), self.k
        )

    def truth(self, mean: float, spread: float) -> float:
        """Return the mean over questions with the chances Beta(cp, c(1 - p))."""
        return sum(
            _chance(correct, self.k, mean * spread, (1 - mean) * spread)
            * self._given(correct)
            for correct in range(self.k + 1)
        )

    def _given(self, correct: int) -> float:
        """Return the score of k answers of which so many are correct."""
        if not self.is_majority:
            return float(correct > 0)
        shares = 0.0
        for wrong in _parts(self.k - correct, WRONG):
            ways = factorial(self.k - correct)
            for count in wrong:
                ways //= factorial(count)
            shares += ways / WRONG ** (self.k - correct) * self.score((correct, *wrong))
        return shares


METRICS = (
    Metric("pass@1", 1, (10, 10)),
    Metric("pass@5", 5, (10, 10)),
    Metric("pass@10", 10, (10, 10)),
    Metric("pass@5, 5 to 20 answers", 5, (5, 20)),
    Metric("maj@5", 5, (10, 10), is_majority=True),
    Metric("maj@10", 10, (10, 10), is_majority=True),
)


def held_share(
    metric: Metric, cell: tuple[int, float, float], sets: int, chance: Any
) -> float:
    """Return the share of data sets whose interval holds the true mean.

    `cell` is one of `CELLS`, and `chance` the generator of random numbers.
    """
    questions, mean, spread = cell
    truth, held = metric.truth(mean, spread), 0
    scores: dict[tuple[int, ...], float] = {}
    least, most = metric.answers
    for _ in range(sets):
        numbers = chance.integers(least, most + 1, questions)
        shares = chance.beta(spread * mean, spread * (1 - mean), questions)
        right = chance.binomial(numbers, shares)
        wrong = chance.multinomial(numbers - right, [1 / WRONG] * WRONG)
        wrong.sort(axis=1)
        rows = [
            (correct, *others)
            for correct, others in zip(right.tolist(), wrong.tolist(), strict=True)
        ]
        for row in Counter(rows):
            if row not in scores:
                scores[row] = metric.score(row)
        totals = QuestionTotals()
        totals.add([scores[row] for row in rows], numbers.tolist())
        low, high = wilson_interval(totals.moments, LEVEL) or (1.0, 0.0)
        held += low <= truth <= high
    return held / sets


def _chance(correct: int, count: int, a: float, b: float) -> float:
    """Return the chance of so many correct answers of `count`, for Beta(a, b)."""
    beta = lgamma(a + correct) + lgamma(b + count - correct) - lgamma(a + b + count)
    return comb(count, correct) * exp(beta - lgamma(a) - lgamma(b) + lgamma(a + b))


def _parts(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to part a number into so many ordered parts."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _parts(total - first, parts - 1):
            yield (first, *rest)
