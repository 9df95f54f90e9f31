"""Tests of the differences between systems on the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harpia_formats.evaluation.scoring.paired_answers import (
    MetricAnswers,
    PairedAnswers,
)
from harpia_formats.evaluation.scoring.permutation import (
    FlipTests,
    exchange_tests,
    sign_test,
)
from harpia_formats.model.metric_profile import ScoreOptionsError

TESTS = ("permutation", "bootstrap", "mcnemar")
PERMUTATION, BOOTSTRAP, MCNEMAR = TESTS
#: Exchanges that are drawn at least, if not all are made.
EXCHANGES = 10_000
#: Replicates and exchanges for each score that is compared: with fewer, no p-value of
#: many could be significant.
FOR_EACH = 400
#: More replicates than these change no interval visibly, only p-values need them.
_FOR_INTERVALS = 10_000


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
    #: The replicates of intervals; None for those of the test.
    of_intervals: int | None = None

    def of_many(self, comparisons: int) -> "PairedTest":
        """Return the test with enough replicates for as many comparisons."""
        replicates = max(self.replicates, FOR_EACH * comparisons)
        most = max(self.replicates, _FOR_INTERVALS)
        return replace(self, replicates=replicates, of_intervals=min(replicates, most))

    @property
    def exchanges(self) -> int:
        """The number of exchanges that are drawn, if not all are made."""
        return max(EXCHANGES, self.replicates)

    @property
    def interval_replicates(self) -> int:
        """The number of replicates of intervals."""
        return self.of_intervals or self.replicates

    @property
    def method(self) -> str:
        """The method of intervals, with its parameters."""
        return (
            f"bootstrap|limits:percentiles|unit:question|level:{self.level!r}"
            f"|replicates:{self.interval_replicates}|seed:{self.seed}"
        )

    def uses_bootstrap(self, answers: MetricAnswers) -> bool:
        """Tell whether p-values are those of the bootstrap."""
        return self.name == BOOTSTRAP or (self.name is None and answers.best is None)

    def p_values(
        self,
        answers: MetricAnswers,
        pairs: Sequence[tuple[int, int]],
        paired: Sequence[PairedAnswers],
    ) -> list[list[PValue]]:
        """Return the p-values of each pair of systems: one for each score.

        They are those of a permutation or of McNemar's test. Raises `ScoreError` if
        McNemar's test does not fit the answers.
        """
        names = range(len(answers.scores(())))
        if self.name == MCNEMAR:
            return [[_mcnemar(one, at) for at in names] for one in paired]
        if answers.best is None:
            values = exchange_tests(answers, pairs, paired, self.exchanges, self.seed)
            return [[self._drawn(value) for value in found] for found in values]
        columns = [self._flipped(answers, paired, at) for at in names]
        return [list(found) for found in zip(*columns, strict=True)]

    def _flipped(
        self, answers: MetricAnswers, paired: Sequence[PairedAnswers], at: int
    ) -> list[PValue]:
        """Return the p-value of each pair for one score of a mean."""
        tests = FlipTests(answers.keys, self.exchanges, self.seed)
        for one in paired:
            tests.add(one.places, one.parts(at))
        every = "permutation|unit:question|exchanges:all"
        return [
            self._drawn(value) if is_drawn else PValue(value, every)
            for value, is_drawn in tests.p_values()
        ]

    def _drawn(self, value: float) -> PValue:
        draws = f"exchanges:{self.exchanges}|seed:{self.seed}"
        is_least = value <= 1 / (1 + self.exchanges)
        return PValue(value, f"permutation|unit:question|{draws}", is_least)

    def of_bootstrap(self, difference: float, as_far: int) -> PValue:
        """Return the p-value of a difference from `as_far` of the replicates."""
        draws = f"replicates:{self.replicates}|seed:{self.seed}"
        test = f"bootstrap|unit:question|{draws}"
        if not difference:
            return PValue(1.0, test)
        return PValue((1 + as_far) / (1 + self.replicates), test, not as_far)


def _mcnemar(answers: PairedAnswers, at: int) -> PValue:
    """Return the p-value of McNemar's test; raises `ScoreError` if it does not fit."""
    parts = answers.parts(at)
    sides = (answers.first, answers.second)
    reason = ""
    if parts is None:
        reason = "the metric is not a mean over answers"
    elif any((side.counts[answers.places] != 1).any() for side in sides):
        reason = "a question has several answers"
    else:
        found = {
            score
            for side in sides
            for score in side.totals(answers.metric.scores, at)[answers.places].tolist()
        }
        if not found <= {0.0, answers.metric.best}:
            reason = "scores are not only 0 and the best one"
    if parts is None or reason:
        raise ScoreOptionsError(
            "McNemar's test needs one answer a question that is right or wrong, and "
            f"{reason}; use --test permutation"
        )
    ahead, behind = (int((sign * parts > 0).sum()) for sign in (1, -1))
    return PValue(sign_test(ahead, behind), "mcnemar|unit:question|exact")
