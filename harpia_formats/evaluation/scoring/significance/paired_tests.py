"""The answers of systems to the same questions, and tests of their differences."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any, NamedTuple, Self

from harpia_formats.evaluation.scoring.number_stores import (
    MeanRows,
    QuestionRows,
    SpooledColumns,
    SpooledRows,
    parts_of,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    TOGETHER,
    Scores,
    Values,
    flips_of,
    np,
    quantum_of,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    ExactSum,
    incomplete_beta,
)

#: What rounding may change in the mean of equal numbers.
_SUMS_ROUNDING = 1e-12


@dataclass(slots=True)
class QuestionSums:
    """The sums of the statistics of one system over its answers to each question."""

    #: A row for each question, zeros if no answer is scored. `MetricAnswers` makes
    #: means of the sums if the numbers of answers differ.
    rows: QuestionRows
    #: For each question the number of scored answers, and of those without a score.
    counts: Any
    unscored: Any
    #: For each question whether the system has it.
    answered: Any
    #: The sums of the scores of the answers to each question, once they are needed.
    _totals: SpooledRows | None = None
    #: The sums of the statistics over some questions, by a bit for each question.
    _sums: dict[bytes, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of_answers(
        cls, answers: Sequence[Sequence[Sequence[float]]], width: int
    ) -> Self:
        """Return the sums of the statistics of answers, given for each question."""
        rows = np.zeros((len(answers), width))
        for place, mine in enumerate(answers):
            if mine:
                rows[place] = summed(mine)
        counts = np.array([len(mine) for mine in answers], dtype=np.int64)
        return cls(SpooledRows(rows), counts, np.zeros_like(counts), counts > 0)

    def totals(self, scores: Scores, names: int, at: int) -> Any:
        """Return the sum of a score over the answers to each question.

        `at` is the place of the score among the `names` scores of a metric that is a
        mean.
        """
        count = len(self.counts)
        if self._totals is None:
            found = np.zeros((count, names))
            for part in parts_of(count):
                rows = self.rows.part(part).tolist()
                found[part] = [
                    [(score or 0.0) * number for score in scores(row)]
                    for row, number in zip(
                        rows, self.counts[part].tolist(), strict=True
                    )
                ]
            self._totals = SpooledRows(found)
        return self._totals.part(slice(0, count))[:, at]

    def sums(self, counted: Any) -> tuple[float, ...]:
        """Return the sum of each statistic over the questions that are counted."""
        key = np.packbits(counted).tobytes()
        if key not in self._sums:
            totals = [ExactSum() for _ in range(self.rows.width)]
            for part in parts_of(len(counted)):
                rows = self.rows.part(part)[counted[part]]
                for total, column in zip(totals, rows.T.tolist(), strict=True):
                    total.add(column)
            self._sums[key] = tuple(total.value for total in totals)
        return self._sums[key]


@dataclass(slots=True)
class MetricAnswers:
    """The answers of some systems by one metric, or by one score of it."""

    #: Returns a score for each name from summed statistics.
    scores: Scores
    #: The number of these scores.
    names: int
    #: The best score of a metric that is a mean, None for a pooled metric.
    best: float | None
    #: The digests of all questions.
    keys: Sequence[bytes]
    systems: Sequence[QuestionSums]
    #: The largest difference that the scale allows, infinite if it is not known.
    widest: float = math.inf
    #: Returns why intervals are approximate, "" if they are not, from the summed
    #: statistics of a system over so many questions.
    remark: Callable[[Sequence[float], int], str] | None = None

    def __post_init__(self) -> None:
        """Let all questions count the same if they have unequal numbers of answers."""
        counts = [np.unique(side.counts[side.counts > 0]) for side in self.systems]
        if len(np.unique(np.concatenate([*counts, [0]]))) > 2:  # noqa: PLR2004 - 0 and one more
            self.systems = [
                replace(side, rows=MeanRows(side.rows, side.counts))
                for side in self.systems
            ]

    def largest(self) -> float:
        """Return the largest score or sum of scores of a question.

        It is infinity for a pooled metric.
        """
        if self.best is None:
            return math.inf
        return max(
            (
                float(np.abs(side.rows.part(part)[:, : self.names]).max())
                for side in self.systems
                for part in parts_of(len(self.keys))
            ),
            default=0.0,
        )

    def pair(self, one: int, other: int) -> "PairedAnswers":
        """Return the answers of two systems, by their places in `systems`."""
        return PairedAnswers(self, (one, other))


@dataclass(slots=True)
class PairedAnswers:
    """The answers of two systems to the questions for which both have a score."""

    metric: MetricAnswers
    #: The places of both systems.
    systems: tuple[int, int]
    #: The number of these questions.
    questions: int = field(init=False)

    def __post_init__(self) -> None:
        self.questions = int(self.counted.sum())

    @property
    def _sides(self) -> tuple[QuestionSums, QuestionSums]:
        one, other = self.systems
        return self.metric.systems[one], self.metric.systems[other]

    @property
    def counted(self) -> Any:
        """For each question whether both systems have a score."""
        # Not held: there are many pairs of systems.
        first, second = self._sides
        return (first.counts > 0) & (second.counts > 0)

    @property
    def places(self) -> Any:
        """The places of these questions among all questions."""
        return np.flatnonzero(self.counted)

    def unscored(self) -> tuple[int, int]:
        """Return the number of answers without a score to questions that both have."""
        first, second = self._sides
        both = first.answered & second.answered
        return int(first.unscored[both].sum()), int(second.unscored[both].sum())

    def values(self) -> tuple[Values, Values]:
        """Return the scores of both systems over all questions."""
        scores = self.metric.scores
        if not self.questions:
            nothing = (None,) * self.metric.names
            return nothing, nothing
        first, second = self._sides
        counted = self.counted
        return scores(first.sums(counted)), scores(second.sums(counted))

    def differences(self) -> Values:
        """Return the difference of each score, None for one that a system lacks."""
        return tuple(
            None if one is None or other is None else one - other
            for one, other in zip(*self.values(), strict=True)
        )

    def remark(self) -> str:
        """Return why an interval is approximate by either system, "" if it is not."""
        find, counted = self.metric.remark, self.counted
        if find is None:
            return ""
        one, other = (find(side.sums(counted), self.questions) for side in self._sides)
        return one or other

    def differing(self) -> int:
        """Return on how many questions the systems have other statistics."""
        counted, found = self.counted, 0
        for part in parts_of(len(counted)):
            ours, theirs = (side.rows.part(part) for side in self._sides)
            differ = ~np.isclose(ours, theirs, rtol=_SUMS_ROUNDING, atol=0)
            found += int(differ.any(axis=1)[counted[part]].sum())
        return found

    def parts(self, at: int) -> Any:
        """Return what each question adds to the difference of a score, as an array.

        `at` is the place of the score among the names of the metric. The sum of the
        parts is the difference of the means of the questions' means. Returns None for a
        pooled metric.
        """
        if self.metric.best is None:
            return None
        places = self.places
        ours, theirs = (
            side.totals(self.metric.scores, self.metric.names, at)[places]
            / (side.counts[places].astype(np.float64) * self.questions)
            for side in self._sides
        )
        return ours - theirs


def summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sums of statistics, place by place; their order does not matter."""
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))


#: Sums that are held at once, and random numbers or statistics of questions.
_SUMS = 1024 * 1024
_NUMBERS = 1024 * 1024
#: The most draws at once, and those that are scored together.
_DRAWS = 16 * 1024
_ROWS = 256
#: Returns the columns of the questions in a slice.
Columns = Callable[[slice], Any]
#: Returns an integer for each of some questions in draws, by their digests, a seed, the
#: number of draws and that of the first.
Draw = Callable[[Sequence[bytes], int, int, int], Any]


def drawn_sums(  # noqa: PLR0913 - what is drawn, and of what
    draw: Draw,
    keys: Sequence[bytes],
    seed: int,
    draws: int,
    columns: Columns,
    *,
    width: int,
) -> Iterator[tuple[int, Any]]:
    """Yield the sums of `width` columns in some draws, and the number of the first.

    Each question counts as often as `draw` says. The numbers in the columns must be
    multiples of one power of 2, so that the sums are exact and do not depend on the
    order of questions.
    """
    most = max(min(_SUMS // max(width, 1), _DRAWS) // TOGETHER, 1) * TOGETHER
    for first in range(0, draws, most):
        count = min(most, draws - first)
        sums = np.zeros((count, width))
        size = max(_NUMBERS // max(count, width), 1)
        for part in parts_of(len(keys), size):
            numbers = draw(keys[part], seed, count, first).astype(np.float64)
            sums += numbers.T @ columns(part)
        yield first, sums


@dataclass(slots=True)
class Blocks:
    """The statistics of the systems of some pairs, over the questions of the pairs.

    Pairs with the same questions share the block of a system.
    """

    answers: MetricAnswers
    #: The system of each block, and for each question 1 if it counts, else 0.
    blocks: list[tuple[int, Any]] = field(default_factory=list)
    #: Each pair with the places of the blocks of both systems.
    pairs: list[tuple[PairedAnswers, int, int]] = field(default_factory=list)
    _known: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def add(self, paired: PairedAnswers) -> None:
        """Add a pair of systems."""
        counted = paired.counted
        key = np.packbits(counted).tobytes()
        for system in paired.systems:
            if (system, key) not in self._known:
                self._known[system, key] = len(self.blocks)
                self.blocks.append((system, counted))
        one, other = (self._known[system, key] for system in paired.systems)
        self.pairs.append((paired, one, other))

    def sums(
        self, draw: Draw, seed: int, draws: int
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the sums of each block in some draws, and the number of the first."""
        own = self.answers.systems
        systems = {system for system, _ in self.blocks}
        quantum = quantum_of(self.answers.largest())

        def columns(part: slice) -> Any:
            rows = {system: own[system].rows.part(part) for system in systems}
            found = [
                rows[system] * counted[part, None] for system, counted in self.blocks
            ]
            return np.rint(np.hstack(found, dtype=np.float64) / quantum) * quantum

        every = len(self.blocks) * own[0].rows.width
        found = drawn_sums(draw, self.answers.keys, seed, draws, columns, width=every)
        for first, sums in found:
            yield first, np.hsplit(sums, len(self.blocks))


def drawn_scores(answers: MetricAnswers, sums: Any) -> Any:
    """Return the scores of a system in each draw, NaN for each that it lacks.

    `sums` has its summed statistics in each draw.
    """
    found = np.empty((len(sums), answers.names))
    # Some at a time, since numbers of Python take four times the memory.
    for part in parts_of(len(sums), _ROWS):
        found[part] = [answers.scores(row) for row in sums[part].tolist()]
    return found


#: All exchanges are made for at most so many questions that differ.
ALL = 14
#: Up to so many questions, probabilities are computed with integers.
_EXACT = 1000
#: The least p-value: floats below have fewer digits, or are 0.
_LEAST_P = sys.float_info.min
#: Differences are counted in multiples of 1/_UNITS of the largest one.
_UNITS = 2**28
#: What rounding may change in the difference of two scores.
_ROUNDING = 1e-9


def flip_tests(
    keys: Sequence[bytes], tested: Iterable[tuple[Any, Any]], draws: int, seed: int
) -> list[tuple[float, bool]]:
    """Return the p-values of permutation tests of sums over questions.

    Each test has the places of its questions and their parts: what each adds to the
    difference of two systems, whose sign is flipped if the systems change places. Each
    p-value comes with whether random flips, which are common to all, were used.
    """
    found: list[tuple[float, bool]] = []
    #: For each test to be drawn its place, its sum, and the sum to be reached.
    drawn: list[tuple[int, float, float]] = []
    columns = SpooledColumns(len(keys))
    for places, parts in tested:
        largest = float(np.abs(parts).max(initial=0.0))
        whole = np.rint(parts / (largest or 1.0) * _UNITS)
        moved = whole[whole != 0]
        # Rounding adds at most half a unit for each question.
        slack = len(moved)
        least = abs(float(moved.sum())) - slack
        value = _flip_test(moved, least)
        if value is None:
            every = np.zeros(len(keys), dtype=np.int32)
            every[places] = whole
            columns.add(every)
            drawn.append((len(found), float(moved.sum()), least))
        found.append((1.0 if value is None else value, value is None))
    if not drawn:
        return found
    tests, totals, reach = zip(*drawn, strict=True)
    reached = np.zeros(len(tests), dtype=np.int64)
    for _, sums in drawn_sums(
        flips_of, keys, seed, draws, columns.part, width=len(tests)
    ):
        reached += (np.abs(np.array(totals) - 2 * sums) >= np.array(reach)).sum(axis=0)
    for test, count in zip(tests, reached.tolist(), strict=True):
        found[test] = (1 + count) / (1 + draws), True
    return found


def _flip_test(moved: Any, least: float) -> float | None:
    """Return the p-value of all flips of whole numbers, None if they are too many.

    `least` is the sum that counts as one as far as that of the numbers.
    """
    if (_UNITS - abs(moved) <= 1).all():
        ahead = int((moved > 0).sum())
        return sign_test(ahead, len(moved) - ahead)
    if len(moved) > ALL:
        return None
    sums = [0.0]
    for part in moved.tolist():
        sums = [total + sign * part for total in sums for sign in (1, -1)]
    return sum(abs(total) >= least for total in sums) / len(sums)


def sign_test(ahead: int, behind: int) -> float:
    """Return the chance of as unequal a split of `ahead + behind` fair coins.

    It is above 0: one below `_LEAST_P` is that.
    """
    few, count = min(ahead, behind), ahead + behind
    if 2 * few == count:
        return 1.0
    if count <= _EXACT:
        tail = sum(comb(count, number) for number in range(few + 1))
        return tail * 2 / (1 << count)
    chance = 2 * incomplete_beta(0.5, count - few, few + 1)
    return min(max(chance, _LEAST_P), 1.0)


def exchange_tests(
    paired: Sequence[PairedAnswers], draws: int, seed: int
) -> list[list[float]]:
    """Return the p-values of differences that are not sums over questions.

    Each pair of systems has one for each score of the metric. The statistics of the
    systems are exchanged at random.
    """
    answers = paired[0].metric
    blocks = Blocks(answers)
    for each in paired:
        blocks.add(each)
    ((_, wholes),) = blocks.sums(_once, seed, 1)
    least = [
        _gaps(answers, wholes[one], wholes[other])[0] for _, one, other in blocks.pairs
    ]
    reached = [np.zeros(len(found), dtype=np.int64) for found in least]
    for _, sums in blocks.sums(flips_of, seed, draws):
        for at, (_, one, other) in enumerate(blocks.pairs):
            moved = sums[other] - sums[one]
            gaps = _gaps(answers, wholes[one] + moved, wholes[other] - moved)
            reached[at] += (gaps >= least[at] - _ROUNDING).sum(axis=0)
    return [((1 + counts) / (1 + draws)).tolist() for counts in reached]


def _once(keys: Sequence[bytes], seed: int, draws: int, first: int) -> Any:  # noqa: ARG001 - the same in each draw
    """Return 1 for each question, by which it counts once."""
    return np.ones((len(keys), draws))


def _gaps(answers: MetricAnswers, one: Any, other: Any) -> Any:
    """Return the absolute differences of scores, infinite where a system lacks one.

    So an exchange without a score counts as one that is as far.
    """
    mine, its = (drawn_scores(answers, sums) for sums in (one, other))
    return np.nan_to_num(np.abs(mine - its), nan=np.inf)


TESTS = ("permutation", "bootstrap")
PERMUTATION, BOOTSTRAP = TESTS
#: Exchanges that are drawn at least, if not all are made.
EXCHANGES = 10_000
#: Replicates and exchanges for each score that is compared: with fewer, no p-value of
#: many could be significant.
FOR_EACH = 400
#: More replicates than these change no interval visibly, only p-values need them.
_FOR_INTERVALS = 10_000


class PValue(NamedTuple):
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

    def p_values(self, paired: Sequence[PairedAnswers]) -> list[list[PValue]]:
        """Return the p-values of each pair by permutation: one for each score."""
        answers = paired[0].metric
        if answers.best is None:
            values = exchange_tests(paired, self.exchanges, self.seed)
            return [[self._drawn(value) for value in found] for found in values]
        every = "permutation|unit:question|exchanges:all"
        columns = []
        for at in range(answers.names):
            tested = ((one.places, one.parts(at)) for one in paired)
            found = flip_tests(answers.keys, tested, self.exchanges, self.seed)
            columns.append(
                [
                    self._drawn(value) if is_drawn else PValue(value, every)
                    for value, is_drawn in found
                ]
            )
        return [list(found) for found in zip(*columns, strict=True)]

    def _drawn(self, value: float) -> PValue:
        draws = f"exchanges:{self.exchanges}|seed:{self.seed}"
        is_least = value <= 1 / (1 + self.exchanges)
        return PValue(value, f"permutation|unit:question|{draws}", is_least)

    def of_bootstrap(self, difference: float | None, as_far: int) -> PValue:
        """Return the p-value of a difference from `as_far` of the replicates."""
        draws = f"replicates:{self.replicates}|seed:{self.seed}"
        test = f"bootstrap|unit:question|{draws}"
        if not difference:
            return PValue(1.0, test)
        return PValue((1 + as_far) / (1 + self.replicates), test, not as_far)
