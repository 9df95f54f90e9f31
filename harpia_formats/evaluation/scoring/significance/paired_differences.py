"""The scores of systems in replicates of the same questions, pair by pair."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import mul
from typing import Any

from harpia_formats.evaluation.scoring.significance.bootstrap import (
    limits_of,
    np,
    weights_of,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    APPROXIMATE,
    FEW,
    LEAST,
    NO_SPREAD,
    incomplete_beta,
    joined_remarks,
    lacking_remark,
    resampled_remark,
    t_quantile,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    Blocks,
    MetricAnswers,
    PairedAnswers,
    PairedTest,
    PValue,
    drawn_scores,
)

#: Scores in replicates that are held at once, but at least those of all systems.
_KEPT = 2 * 1024 * 1024
#: A pair, the differences of its scores in the replicates of the interval, as an array,
#: and how many of all differences are as far from the one that was found as that is
#: from 0; a replicate without a difference counts as one of them.
ReplicatedPair = tuple[PairedAnswers, Any, list[int]]


def replicated_pairs(
    paired: Sequence[PairedAnswers], test: PairedTest
) -> Iterator[ReplicatedPair]:
    """Yield what the replicates of each pair say, drawn for some pairs at a time."""
    answers = paired[0].metric
    kept = _KEPT // (test.interval_replicates * answers.names)
    rest = deque(paired)
    while rest:
        blocks = Blocks(answers)
        while rest and len(blocks.blocks) <= max(kept, len(answers.systems)):
            blocks.add(rest.popleft())
        yield from _pairs_together(blocks, test)


def _pairs_together(blocks: Blocks, test: PairedTest) -> Iterator[ReplicatedPair]:
    """Yield what the replicates of each pair say."""
    answers, least = blocks.answers, test.interval_replicates
    draws = test.replicates if test.uses_bootstrap(answers) else least
    kept = np.empty((len(blocks.blocks), least, answers.names))
    seen = np.array(
        [[one or 0.0 for one in pair.differences()] for pair, *_ in blocks.pairs]
    )
    as_far = np.zeros(seen.shape, dtype=np.int64)
    for first, sums in blocks.sums(weights_of, test.seed, draws):
        scores = [drawn_scores(answers, block) for block in sums]
        for mine, found in zip(kept, scores, strict=True):
            mine[first : first + len(found)] = found[: max(least - first, 0)]
        for at, (_, one, other) in enumerate(blocks.pairs):
            differences = scores[one] - scores[other]
            # No comparison with NaN is true.
            near = np.abs(differences - seen[at]) < np.abs(seen[at])
            as_far[at] += (~near).sum(axis=0)
    for (pair, one, other), counts in zip(blocks.pairs, as_far.tolist(), strict=True):
        yield pair, kept[one] - kept[other], counts


#: A power, and its normal quantile.
_SHARE = 0.8
_POWER = 0.8416212335729143
#: How far from the mean the numbers of differing questions are, in their standard
#: deviations, and of how many of them the power is computed.
_DEVIATIONS, _COUNTS = 4, 40
#: Up to so many questions that differ, chances are not those of a normal distribution.
_EXACT = 200
#: How often a range of differences is halved.
_HALVINGS = 30
#: What rounding leaves of a standard error that is 0.
_ROUNDING = 1e-12
FEW_DIFFER = "few questions differ: the interval is approximate"
_BOTH_APPROXIMATE = ": the interval and the p-value are approximate"


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
    is_least: bool
    #: The test, and the method of the interval, with their parameters.
    test: str
    method: str
    #: The smallest difference that as many questions detect with a power of 80 %, None
    #: if the systems do not differ on any question, if it is `beyond_scale`, or if
    #: replicates of a pooled score lack it.
    detectable: float | None
    #: The same difference if it is larger than the scale of the score, so that as many
    #: questions detect none.
    beyond_scale: float | None
    #: Why the interval is approximate, "" if it is not.
    remark: str
    #: Whether the p-value is approximate for the same reason: it is that of the same
    #: replicates, and few references have some label.
    is_approximate_p: bool
    #: The confidence level of the interval and of the detected difference.
    level: float
    #: The best score, if each question differs by it or not at all, as 0 from 1.
    step: float | None
    #: The standard error of the difference, None if there is nothing `detectable` or
    #: `beyond_scale`.
    standard_error: float | None

    @property
    def alpha(self) -> float:
        """The least p-value that is not significant."""
        return _alpha(self.level)


def _alpha(level: float) -> float:
    """Return the least p-value that is not significant."""
    return round(1 - level, 15)


def compare_pairs(
    answers: MetricAnswers, pairs: Sequence[tuple[int, int]], test: PairedTest
) -> list[list[Comparison | None]]:
    """Return the difference of each score of a metric, for each pair of systems.

    `pairs` has the places of the systems in `answers`. A result is None for a score
    that a system lacks, and for fewer than two questions. The result of a pair in the
    other order has the same digits with the other sign.
    """
    every = [answers.pair(*pair) for pair in pairs]
    tested = [one for one in every if one.questions >= LEAST]
    if not tested:
        return [[None] * answers.names for _ in pairs]
    p_values: Iterator[list[PValue] | None] = repeat(None)
    if not test.uses_bootstrap(answers):
        p_values = iter(test.p_values(tested))
    # One pair after the other, since there may be very many.
    found = map(_comparisons, replicated_pairs(tested, test), p_values, repeat(test))
    return [
        next(found) if one.questions >= LEAST else [None] * answers.names
        for one in every
    ]


def _comparisons(
    replicated: ReplicatedPair, p_values: Sequence[PValue] | None, test: PairedTest
) -> list[Comparison | None]:
    """Return the comparison of each score; without `p_values` by the replicates."""
    answers, _, as_far = replicated
    if p_values is None:
        p_values = list(map(test.of_bootstrap, answers.differences(), as_far))
    few = FEW_DIFFER if answers.differing() < FEW else ""
    return [
        _comparison(replicated, at, test, p_value, few)
        for at, p_value in enumerate(p_values)
    ]


def _comparison(
    replicated: ReplicatedPair, at: int, test: PairedTest, p_value: PValue, few: str
) -> Comparison | None:
    """Return the comparison of a score, None if a system or each replicate lacks it.

    `few` tells why the interval is approximate if few questions differ.
    """
    answers, drawn, _ = replicated
    difference = answers.differences()[at]
    values = drawn[:, at][~np.isnan(drawn[:, at])].tolist()
    if difference is None or not values:
        return None
    is_pooled = answers.metric.best is None
    lacking = test.interval_replicates - len(values) if is_pooled else 0
    step = _step(answers, at)
    error = None if lacking else _standard_error(answers, at, values)
    detectable = _detectable(answers.questions, error, test.level, step)
    is_beyond = detectable is not None and detectable > answers.metric.widest
    low, high = _limits(values, difference, test.level)
    spread = NO_SPREAD if low == high else resampled_remark(answers.questions)
    of_answers = answers.remark()
    remark = joined_remarks([lacking_remark(lacking), of_answers, few or spread])
    is_approximate_p = bool(of_answers) and test.uses_bootstrap(answers.metric)
    if is_approximate_p:
        remark = remark.replace(APPROXIMATE, _BOTH_APPROXIMATE)
    return Comparison(
        difference,
        low,
        high,
        p_value.value,
        p_value.is_least,
        p_value.test,
        test.method,
        None if is_beyond else detectable,
        detectable if is_beyond else None,
        remark,
        is_approximate_p,
        test.level,
        step,
        error,
    )


def _limits(
    replicated: Sequence[float], difference: float, level: float
) -> tuple[float, float]:
    """Return the interval of a difference.

    It is computed of the positive difference: interpolation from the other side would
    round otherwise.
    """
    is_negative = (difference or math.fsum(replicated)) < 0
    values = [-value for value in replicated] if is_negative else replicated
    low, high = limits_of(values, level) or (difference, difference)
    # 0 is added, so that no limit is the negative 0.
    return (-high + 0.0, -low + 0.0) if is_negative else (low + 0.0, high + 0.0)


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


def questions_for(
    difference: float,
    standard_error: float,
    questions: int,
    level: float,
    step: float | None = None,
) -> int:
    """Return how many questions detect `difference` with a power of 80 %.

    `standard_error` is that of `questions` of them. `level` is that of the test, and
    `step` that of the comparison.
    """
    spread = standard_error * math.sqrt(questions)

    def are_few(number: int) -> bool:
        found = _standard_errors(number, level) * spread / math.sqrt(number)
        is_few = found > difference * (1 + _ROUNDING)
        if step is None or is_few:
            return is_few
        return _power_of_steps(number, difference, spread, level, step) < _SHARE

    least = _least_questions(level)
    low, high = least - 1, max(questions, least)
    while are_few(high):
        low, high = high, high * 2
    return _last(low, high, are_few) + 1


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the last number from `low` on for which `holds`, as not for `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _least_questions(level: float) -> int:
    """Return how many questions may have a p-value below that of `level`.

    With fewer, all exchanges of the answers are so few that none has one.
    """
    return max(math.floor(1 - math.log2(_alpha(level))) + 1, LEAST)


def _power_of_steps(
    questions: int, difference: float, spread: float, level: float, step: float
) -> float:
    """Return the power of the exact test where questions differ by `step` or not.

    `spread` is the standard deviation of the differences of questions: so many of them
    differ that their variance is that, and so many more in one direction that the mean
    is `difference`. There are at least `_least_questions`.
    """
    least = _least_questions(level)
    share = min(difference / step, 1.0)
    differ = min(max((spread / step) ** 2 + share**2, share), 1.0)
    ahead = (differ + share) / (2 * differ)
    mean, deviation = questions * differ, math.sqrt(questions * differ * (1 - differ))
    first = max(math.floor(mean - _DEVIATIONS * deviation), least)
    last = min(math.ceil(mean + _DEVIATIONS * deviation), questions)
    counts = range(first, last + 1, (last - first) // _COUNTS + 1)
    chances = [_binomial(questions, number, differ) for number in counts]
    left = 1 - differ
    # With fewer questions that differ than `least` nothing is detected.
    missed = (
        incomplete_beta(left, questions - least + 1, least) if first == least else 0.0
    )
    powers = (_power_of_signs(number, ahead, _alpha(level)) for number in counts)
    weighted = math.fsum(map(mul, chances, powers))
    return weighted / math.fsum(chances) * (1 - missed) if weighted else 0.0


def _binomial(count: int, number: int, share: float) -> float:
    """Return the chance of `number` of `count` events that have a chance of `share`."""
    if share >= 1:
        return float(number == count)
    ways = math.lgamma(count + 1) - math.lgamma(number + 1)
    ways -= math.lgamma(count - number + 1)
    return math.exp(
        ways + number * math.log(share) + (count - number) * math.log1p(-share)
    )


def _power_of_signs(count: int, ahead: float, alpha: float) -> float:
    """Return the power of the sign test of so many questions that differ.

    `ahead` is the chance that one differs in the direction of the difference.
    """
    few = _few_signs(count, alpha)
    if count <= _EXACT:
        return incomplete_beta(ahead, count - few, few + 1)
    deviation = math.sqrt(max(count * ahead * (1 - ahead), _ROUNDING))
    distance = (few + 1 / 2 - count * (1 - ahead)) / deviation
    return math.erfc(-distance / math.sqrt(2)) / 2


@lru_cache(maxsize=4096)
def _few_signs(count: int, alpha: float) -> int:
    """Return the most signs of one kind of `count` with a p-value below `alpha`.

    `count` is at least `_least_questions`, so that 0 signs of one kind have one.
    """
    if count > _EXACT:
        normal = t_quantile(1 - alpha / 2, 10**12)
        return math.floor((count - normal * math.sqrt(count) - 1) / 2)
    return _last(
        0,
        count // 2,
        lambda few: 2 * incomplete_beta(0.5, count - few, few + 1) < alpha,
    )


def _step(answers: PairedAnswers, at: int) -> float | None:
    """Return the best score if each question differs by it or not at all."""
    best, parts = answers.metric.best, answers.parts(at)
    if best is None or math.isinf(best) or parts is None:
        return None
    steps = abs(parts) * answers.questions / best
    is_step = (steps <= _ROUNDING) | (abs(steps - 1) <= _ROUNDING)
    return best if is_step.all() else None


def _standard_errors(questions: int, level: float) -> float:
    """Return how many standard errors are detected with a power of 80 %.

    It holds for few questions, too, whose standard error has an error of its own. It
    follows from the approximation of the noncentral t distribution by Abramowitz and
    Stegun, Handbook of Mathematical Functions, 26.7.10.
    """
    freedom = questions - 1
    t = t_quantile((1 + level) / 2, freedom)
    return t * (1 - 1 / (4 * freedom)) + _POWER * math.sqrt(1 + t * t / (2 * freedom))


@lru_cache(1024)  # metrics that score alike ask the same, as repeated runs do
def _detectable(
    questions: int, error: float | None, level: float, step: float | None
) -> float | None:
    """Return the smallest difference that is detected with a power of 80 %.

    It is None without the standard `error` of the difference.
    """
    if error is None:
        return None
    detectable = _standard_errors(questions, level) * error
    if step is None:
        return detectable
    least = _least_questions(level)
    if questions < least:
        return max(detectable, step * least / questions)
    spread = error * math.sqrt(questions)

    def is_missed(difference: float) -> bool:
        power = _power_of_steps(questions, difference, spread, level, step)
        return power < _SHARE

    low, high = min(detectable, step), step
    if not is_missed(low):
        return detectable
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_missed(middle) else (low, middle)
    return max(detectable, high)


def _standard_error(
    answers: PairedAnswers, at: int, replicated: Sequence[float]
) -> float | None:
    """Return the standard error of a difference, None if nothing differs."""
    questions = answers.questions
    parts = answers.parts(at)
    if parts is None:
        mean = math.fsum(replicated) / len(replicated)
        squares = math.fsum((value - mean) ** 2 for value in replicated)
        variance = squares / len(replicated)
    else:
        values = parts.tolist()
        mean = math.fsum(values) / questions
        squares = math.fsum((part - mean) ** 2 for part in values)
        variance = squares * questions / (questions - 1)
    # The root of the variance of few questions is too small by about this share.
    error = math.sqrt(variance) * (1 + 1 / (4 * (questions - 1)))
    return None if error <= _ROUNDING * max(abs(mean), 1) else error
