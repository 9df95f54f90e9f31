"""The standard error and the confidence interval of a mean, by question.

The unit is the question, since several answers to one question are not independent.
The estimate is the mean over answers, and its variance is that between questions.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import mul, truediv

from harpia_formats.scoring.student import t_quantile

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
_APPROXIMATE = ": the interval is approximate"


def number_or_none(value: object) -> float | None:
    """Return a score as a number, 1 for true and 0 for false.

    None for a value that is no number from -`LARGEST` to `LARGEST`.
    """
    if not isinstance(value, (bool, int, float)) or not abs(value) <= LARGEST:
        return None
    return float(value)


@dataclass(slots=True)
class QuestionMoments:
    """Exact sums over questions: of their answers, of their scores, and of products.

    They are integers, so that no order of additions changes them. A score is counted in
    multiples of 1/`QUANTA`.
    """

    questions: int = 0
    answers: int = 0
    total: int = 0
    #: The sums of the squared totals, of total times answers, and of squared answers.
    squares: int = 0
    products: int = 0
    square_answers: int = 0
    #: The number of independent answers that there are at most behind the mean, if that
    #: is not the number of `answers`.
    independent: int = 0
    #: How many questions have each mean; None if there are more than `FEW` means.
    counts: Counter[float] | None = field(default_factory=Counter)

    def add(self, answers: Sequence[int], totals: Sequence[int]) -> None:
        """Add questions: how many answers each has, and the sum of their scores."""
        self.questions += len(answers)
        self.answers += sum(answers)
        self.total += sum(totals)
        self.squares += sum(map(mul, totals, totals))
        self.products += sum(map(mul, totals, answers))
        self.square_answers += sum(map(mul, answers, answers))
        if self.counts is not None:
            self.counts.update(map(truediv, totals, answers))
            if len(self.counts) > FEW:
                self.counts = None

    @property
    def mean(self) -> float:
        """The mean over answers, of which there is at least one."""
        return self.total / (self.answers * QUANTA)

    @property
    def variance(self) -> float | None:
        """The variance of the mean between questions; None for fewer than two.

        It is the sample variance of the means of questions, weighted by their answers,
        divided by the number of questions.
        """
        if self.questions < LEAST:
            return None
        # All are integers: only the last division rounds.
        squares = (
            self.squares * self.answers**2
            - 2 * self.total * self.answers * self.products
            + self.total**2 * self.square_answers
        )
        scale = (self.questions - 1) * (self.answers**2 * QUANTA) ** 2
        return squares * self.questions / scale

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean by question; None for fewer than two."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance)


def effective_number(moments: QuestionMoments, best: float = 1.0) -> float:
    """Return how many independent answers would give the mean the same variance.

    It is m(1 - m)/v, limited to the numbers of questions and of answers; the number of
    questions where the variance v, m or 1 - m is 0. `best` is the best score.
    """
    share, variance = moments.mean / best, (moments.variance or 0.0) / best**2
    if variance <= 0 or not 0 < share < 1:
        return moments.questions
    found = share * (1 - share) / variance
    return min(max(found, moments.questions), moments.independent or moments.answers)


def wilson_interval(
    moments: QuestionMoments, level: float, best: float = 1.0
) -> tuple[float, float] | None:
    """Return the confidence interval of a mean of scores between 0 and `best`.

    It is Wilson's on the effective number of answers, with the quantile of Student's t
    in the place of the normal one. Returns None for fewer than two questions, and for a
    mean that is not between 0 and `best`. Source: Wilson, Probable Inference, the Law
    of Succession, and Statistical Inference (1927).
    """
    if moments.questions < LEAST:
        return None
    share = moments.mean / best
    if not -_ROUNDING <= share <= 1 + _ROUNDING:
        return None
    share = min(max(share, 0.0), 1.0)
    number = effective_number(moments, best)
    t = t_quantile((1 + level) / 2, moments.questions - 1)
    weight = t * t / number
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    low = 0.0 if share == 0 else max(centre - half, 0.0)
    high = 1.0 if share == 1 else min(centre + half, 1.0)
    return low * best, high * best


def remark_of(moments: QuestionMoments, best: float = 1.0) -> str:
    """Return why the interval of a mean is approximate or missing, "" if it is not."""
    if not moments.questions:
        return ""
    if moments.questions < LEAST:
        return ONE_QUESTION
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
    return f"{lacking:,} {have} no score{_APPROXIMATE}"


def joined_remarks(remarks: Iterable[str]) -> str:
    """Return why an interval is approximate, from several remarks that may be ""."""
    reasons = [remark.removesuffix(_APPROXIMATE) for remark in remarks if remark]
    return f"{', '.join(reasons)}{_APPROXIMATE}" if reasons else ""
