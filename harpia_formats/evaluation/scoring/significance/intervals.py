"""The standard error and the confidence interval of a mean, by question."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from operator import mul, truediv
from typing import Self


@dataclass(slots=True)
class ExactSum:
    """The sum of any number of finite floats, without rounding."""

    #: Floats whose sum is the exact one, the largest first.
    _parts: list[float] = field(default_factory=list)

    def add(self, values: Iterable[float]) -> None:
        """Add some values."""
        left = [*self._parts, *values]
        parts = []
        # The rounded sum, then the rounded sum of what is missing from it.
        while rounded := math.fsum(left):
            parts.append(rounded)
            left.append(-rounded)
        self._parts = parts

    def merge(self, other: Self) -> None:
        """Add the values of `other`."""
        self.add(other._parts)

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._parts)


#: From as many degrees of freedom the expansion is exact to about 12 digits.
_MANY = 1000
_STEPS = 10_000
_tiny = 1e-300


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: int) -> float:
    """Return the value below which `share` (0.5 to 1) of the distribution lies.

    `freedom` is the number of degrees of freedom, at least 1. Source: Abramowitz and
    Stegun, Handbook of Mathematical Functions, 26.5.8, 26.7.1 and 26.7.5.
    """
    if freedom >= _MANY:
        return _expansion(share, freedom)
    low, high = 0.0, 1.0
    while _upper_tail(high, freedom) > 1 - share:
        low, high = high, high * 2
    while low < (middle := (low + high) / 2) < high:
        if _upper_tail(middle, freedom) > 1 - share:
            low = middle
        else:
            high = middle
    return high


def _expansion(share: float, freedom: int) -> float:
    """Return the quantile by the expansion around that of the normal distribution."""
    from statistics import NormalDist  # noqa: PLC0415 - slow to import

    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _upper_tail(value: float, freedom: int) -> float:
    """Return the share of the distribution above `value`, which is at least 0."""
    x = freedom / (freedom + value * value)
    return incomplete_beta(x, freedom / 2, 0.5) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for x of 0 to 1."""
    if not 0 < x < 1:
        return x
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logarithm + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):  # pragma: no branch - none needs as many steps
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            found *= d * c
        if abs(d * c - 1) < math.ulp(1):
            break
    return found


def _not_zero(value: float) -> float:
    """Return a number by which another one can be divided."""
    return value if abs(value) > _tiny else _tiny


#: Fewer questions than these have no interval.
LEAST = 2
#: Fewer failures or successes than these make an interval approximate.
FEW = 5
#: Fewer questions than these make the percentiles of a bootstrap too close together.
FEW_QUESTIONS = 20
#: Scores are counted in multiples of 1/QUANTA, so that their sums are exact.
QUANTA = 2**44
#: Scores beyond are no numbers here: the sums of their squares may be no floats.
LARGEST = 1e100
#: What rounding may add to a mean of scores that are between 0 and 1.
_ROUNDING = 1e-9
#: How `standard_error` is computed, for files of results.
STANDARD_ERROR = "root of the variance of the mean between questions"
FEW_FAILURES = "few failures: the interval is approximate"
FEW_SUCCESSES = "few successes: the interval is approximate"
NO_SPREAD = "no replicate differs: the interval is approximate"
FEW_RESAMPLED = "few questions: the interval is approximate"
FEW_OTHERS = (
    "few questions differ from the commonest score: the interval is approximate"
)
ONE_QUESTION = "one question has no interval"
#: How a remark ends that says why an interval is approximate.
APPROXIMATE = ": the interval is approximate"


def number_or_none(value: object) -> float | None:
    """Return a score as a number, 1 for true and 0 for false.

    None for a value that is no number from -`LARGEST` to `LARGEST`.
    """
    if not isinstance(value, (bool, int, float)) or not abs(value) <= LARGEST:
        return None
    return float(value)


@dataclass(frozen=True, slots=True)
class AnswerMean:
    """The mean over answers, by which a question counts as often as it has answers."""

    questions: int
    mean: float
    #: The variance of the mean.
    variance: float
    #: The number of independent answers that there are at most behind the mean.
    independent: float


@dataclass(slots=True)
class QuestionMoments:
    """Exact sums over questions, for each number of answers that questions have.

    They are integers, so that no order of additions changes them. A score is counted in
    multiples of 1/`QUANTA`.
    """

    #: For each number of answers: how many questions have it, the sum of their totals,
    #: and that of the squared totals. A total is the sum of the scores of a question.
    sums: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    #: How many questions have each mean; None if there are more than `FEW` means.
    counts: Counter[float] | None = field(default_factory=Counter)

    def add(self, answers: Sequence[int], totals: Sequence[int]) -> None:
        """Add questions: how many answers each has, and the sum of their scores."""
        parts: dict[int, list[int]] = {}
        for count, total in zip(answers, totals, strict=True):
            parts.setdefault(count, []).append(total)
        for count, mine in parts.items():
            questions, total, squares = self.sums.get(count, (0, 0, 0))
            self.sums[count] = (
                questions + len(mine),
                total + sum(mine),
                squares + sum(map(mul, mine, mine)),
            )
        if self.counts is not None:
            self.counts.update(map(truediv, totals, answers))
            if len(self.counts) > FEW:
                self.counts = None

    @property
    def questions(self) -> int:
        """The number of questions."""
        return sum(questions for questions, _, _ in self.sums.values())

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(count * questions for count, (questions, *_) in self.sums.items())

    @property
    def is_even(self) -> bool:
        """Whether all questions have equally many answers."""
        return len(self.sums) <= 1

    @property
    def mean(self) -> float:
        """The mean of the questions' means, of which there is at least one."""
        return float(self._means(1) / (self.questions * QUANTA))

    @property
    def variance(self) -> float | None:
        """The variance of the mean between questions; None for fewer than two.

        It is the sample variance of the questions' means, divided by their number.
        """
        count = self.questions
        if count < LEAST:
            return None
        # All are fractions of integers: only the last division rounds.
        spread = self._means(2) * count - self._means(1) ** 2
        return float(spread / (count**2 * (count - 1) * QUANTA**2))

    def _means(self, power: int) -> Fraction:
        """Return the sum of the questions' means, or that of their squares for 2."""
        return sum(
            (Fraction(sums[power], n**power) for n, sums in self.sums.items()),
            Fraction(),
        )

    @property
    def independent(self) -> float:
        """The number of answers behind the mean, if all of them were independent.

        With unequal numbers of answers it is less than their sum: the variance of the
        mean would be that of one answer divided by it.
        """
        if self.is_even:
            return self.answers
        shares = (Fraction(questions, n) for n, (questions, *_) in self.sums.items())
        return float(self.questions**2 / sum(shares))

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean by question; None for fewer than two."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance)

    def over_answers(self) -> AnswerMean:
        """Return the mean over answers to two or more questions, and its variance."""
        questions, answers = self.questions, self.answers
        total = sum(total for _, total, _ in self.sums.values())
        squares = sum(
            squares * answers**2
            - 2 * total * answers * n * part
            + total**2 * n**2 * number
            for n, (number, part, squares) in self.sums.items()
        )
        scale = (questions - 1) * (answers**2 * QUANTA) ** 2
        variance = squares * questions / scale
        return AnswerMean(questions, total / (answers * QUANTA), variance, answers)


#: A mean of scores, and how much it varies between questions.
Estimate = QuestionMoments | AnswerMean


def effective_number(estimate: Estimate, best: float = 1.0) -> float:
    """Return how many independent answers would give the mean the same variance.

    It is m(1 - m)/v, limited to the numbers of questions and of independent answers;
    the number of questions where the variance v, m or 1 - m is 0. `best` is the best
    score.
    """
    share, variance = estimate.mean / best, (estimate.variance or 0.0) / best**2
    if variance <= 0 or not 0 < share < 1:
        return estimate.questions
    found = share * (1 - share) / variance
    return min(max(found, estimate.questions), estimate.independent)


def wilson_interval(
    estimate: Estimate, level: float, best: float = 1.0
) -> tuple[float, float] | None:
    """Return the confidence interval of a mean of scores between 0 and `best`.

    It is of two or more questions: Wilson's on the effective number of answers, with
    the quantile of Student's t in the place of the normal one. Returns None for a mean
    that is not between 0 and `best`. Source: Wilson, Probable Inference, the Law of
    Succession, and Statistical Inference (1927).
    """
    share = estimate.mean / best
    if not -_ROUNDING <= share <= 1 + _ROUNDING:
        return None
    share = min(max(share, 0.0), 1.0)
    number = effective_number(estimate, best)
    t = t_quantile((1 + level) / 2, estimate.questions - 1)
    weight = t * t / number
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    low = 0.0 if share == 0 else max(centre - half, 0.0)
    high = 1.0 if share == 1 else min(centre + half, 1.0)
    return low * best, high * best


def remark_of(moments: QuestionMoments, best: float = 1.0) -> str:
    """Return why the interval of a mean is approximate, "" if it is not."""
    share = moments.mean / best
    if moments.questions * min(share, 1 - share) >= FEW:
        return ""
    return FEW_SUCCESSES if share < 1 / 2 else FEW_FAILURES


def few_others_remark(moments: QuestionMoments) -> str:
    """Return why a bootstrap of a mean is approximate, "" if it is not.

    Many replicates have none of the few questions whose score is not the commonest.
    """
    if not moments.counts or moments.questions - max(moments.counts.values()) >= FEW:
        return ""
    return FEW_OTHERS


def resampled_remark(questions: int) -> str:
    """Return why a bootstrap of so many questions is approximate, "" if it is not."""
    return FEW_RESAMPLED if questions < FEW_QUESTIONS else ""


def lacking_remark(lacking: int) -> str:
    """Return that as many replicates have no score, "" if none lacks one."""
    if not lacking:
        return ""
    have = "replicate has" if lacking == 1 else "replicates have"
    return f"{lacking:,} {have} no score{APPROXIMATE}"


def joined_remarks(remarks: Iterable[str]) -> str:
    """Return why an interval is approximate, from several remarks that may be ""."""
    reasons = [remark.removesuffix(APPROXIMATE) for remark in remarks if remark]
    return f"{', '.join(reasons)}{APPROXIMATE}" if reasons else ""
