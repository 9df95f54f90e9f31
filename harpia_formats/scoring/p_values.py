"""Tests of the difference between two systems on the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harpia_formats.model.metric_profile import ScoreOptionsError
from harpia_formats.scoring.paired_answers import PairedAnswers
from harpia_formats.scoring.permutation import exchange_test, flip_test, sign_test

TESTS = ("permutation", "bootstrap", "mcnemar")
PERMUTATION, BOOTSTRAP, MCNEMAR = TESTS
#: Exchanges that are drawn at least, if not all are made.
EXCHANGES = 10_000
#: Replicates and exchanges for each score that is compared: with fewer, no p-value of
#: many could be significant.
FOR_EACH = 400


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value, and how it was found."""

    value: float
    #: The test with its parameters.
    test: str
    #: Whether it is the least that the drawn replicates or exchanges allow.
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class PairedTest:
    """How differences are tested."""

    #: One of `TESTS`; None for permutation of means and the bootstrap of the rest.
    name: str | None
    replicates: int
    seed: int
    #: The confidence level of intervals.
    level: float

    def of_many(self, comparisons: int) -> "PairedTest":
        """Return the test with enough replicates for as many comparisons."""
        return replace(self, replicates=max(self.replicates, FOR_EACH * comparisons))

    @property
    def exchanges(self) -> int:
        """The number of exchanges that are drawn, if not all are made."""
        return max(EXCHANGES, self.replicates)

    @property
    def method(self) -> str:
        """The method of intervals, with its parameters."""
        return (
            f"bootstrap|limits:percentiles|unit:question|level:{self.level!r}"
            f"|replicates:{self.replicates}|seed:{self.seed}"
        )

    def p_value(
        self,
        answers: PairedAnswers,
        at: int,
        difference: float,
        replicated: Sequence[float],
    ) -> PValue:
        """Return the p-value of the difference of a score.

        `at` is the place of the score among the names of the metric, and `replicated`
        has the difference of each bootstrap replicate. Raises `ScoreError` if McNemar's
        test does not fit the answers.
        """
        parts = answers.parts(at)
        if self.name == MCNEMAR:
            return _mcnemar(answers, parts)
        if self.name == BOOTSTRAP or (self.name is None and parts is None):
            return self._bootstrap(difference, replicated)
        if parts is None:
            value = exchange_test(answers, at, self.exchanges, self.seed)
            return self._drawn(value)
        value, drawn = flip_test(answers.keys, parts, self.exchanges, self.seed)
        if drawn:
            return self._drawn(value)
        return PValue(value, "permutation|unit:question|exchanges:all")

    def _drawn(self, value: float) -> PValue:
        draws = f"exchanges:{self.exchanges}|seed:{self.seed}"
        is_least = value <= 1 / (1 + self.exchanges)
        return PValue(value, f"permutation|unit:question|{draws}", is_least)

    def _bootstrap(self, difference: float, replicated: Sequence[float]) -> PValue:
        draws = f"replicates:{self.replicates}|seed:{self.seed}"
        test = f"bootstrap|unit:question|{draws}"
        if not difference:
            return PValue(1.0, test)
        size = abs(difference)
        as_far = sum(abs(value - difference) >= size for value in replicated)
        return PValue((1 + as_far) / (1 + len(replicated)), test, not as_far)


def _mcnemar(answers: PairedAnswers, parts: Sequence[float] | None) -> PValue:
    """Return the p-value of McNemar's test; raises `ScoreError` if it does not fit."""
    reason = ""
    if parts is None:
        reason = "the metric is not a mean over answers"
    elif {*answers.first_counts, *answers.second_counts} != {1}:
        reason = "a question has several answers"
    else:
        rows = (*answers.first, *answers.second)
        found = {score for row in rows for score in answers.scores(row)}
        if not found <= {0.0, answers.best}:
            reason = "scores are not only 0 and the best one"
    if parts is None or reason:
        raise ScoreOptionsError(
            "McNemar's test needs one answer a question that is right or wrong, and "
            f"{reason}; use --test permutation"
        )
    ahead, behind = (sum(sign * part > 0 for part in parts) for sign in (1, -1))
    return PValue(sign_test(ahead, behind), "mcnemar|unit:question|exact")
