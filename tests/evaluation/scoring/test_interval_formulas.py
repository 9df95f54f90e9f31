"""The formulas of intervals compared with slow plain ones, and their limits."""

import itertools
import math
import random
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.evaluation.metrics import METRICS, measure_of
from harpia_formats.evaluation.scoring.significance import intervals
from harpia_formats.evaluation.scoring.significance.intervals import (
    APPROXIMATE,
    FEW_FAILURES,
    FEW_OTHERS,
    FEW_RESAMPLED,
    FEW_SUCCESSES,
    QUANTA,
    AnswerMean,
    ExactSum,
    QuestionMoments,
    effective_number,
    few_others_remark,
    incomplete_beta,
    joined_remarks,
    lacking_remark,
    number_or_none,
    remark_of,
    resampled_remark,
    t_quantile,
    wilson_interval,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    holm,
    questions_for,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import sign_test
from harpia_formats.plugins import MetricError

#: How many answers each question has, and the sum of their scores in eighths.
UNEQUAL = [(1, 8), (1, 3), (2, 5), (4, 32), (4, 1), (4, 9), (7, 0)]


def moments_of(questions: list[tuple[int, int]], parts: int = 8) -> QuestionMoments:
    """Return the moments of questions: the number of answers, and the sum in parts."""
    found = QuestionMoments()
    found.add(
        [count for count, _ in questions],
        [total * QUANTA // parts for _, total in questions],
    )
    return found


def right(count: int, questions: int) -> QuestionMoments:
    """Return the moments of questions with one answer, of which so many are right."""
    return moments_of([(1, 1)] * count + [(1, 0)] * (questions - count), 1)


#: Questions whose effective number lies between theirs and that of their answers.
BETWEEN = moments_of([(4, 4), (4, 22), (4, 4), (4, 20)])


@for_each_case(
    "x, a, b",
    [
        (one, *two)
        for one, two in itertools.product(
            [0.0, 1e-9, 0.1, 0.3, 0.5, 0.62, 0.9, 1 - 1e-9, 1.0],
            [(1, 1), (2, 3), (7, 2), (1, 30), (40, 25)],
        )
    ],
)
def test_incomplete_beta_is_a_binomial_sum(x: float, a: int, b: int) -> None:
    """For integers it is the chance of at least `a` of a + b - 1 successes."""
    n, share = a + b - 1, Fraction(x)
    expected = sum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(a, n + 1)
    )

    assert incomplete_beta(x, a, b) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("share", [0.9, 0.975])
def test_many_degrees_of_freedom(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the expansion begins it has the digits of the exact quantile."""
    expanded = t_quantile(share, 1000)
    monkeypatch.setattr(intervals, "_MANY", 10**6)
    exact = t_quantile.__wrapped__(share, 1000)

    assert expanded == pytest.approx(exact, abs=4e-12)
    assert expanded != exact


def test_moments_are_those_of_plain_sums() -> None:
    """Means and variances of questions with unequally many answers are exact.

    Over answers a question counts as often as it has answers, and its variance does.
    """
    found = moments_of(UNEQUAL)
    means = [Fraction(total, 8 * count) for count, total in UNEQUAL]
    number = len(means)
    mean = sum(means) / number
    variance = sum((each - mean) ** 2 for each in means) / (number * (number - 1))
    weights = sum(Fraction(1, count) for count, _ in UNEQUAL)

    assert (found.questions, found.answers, found.is_even) == (7, 23, False)
    assert (found.mean, found.variance) == (float(mean), float(variance))
    assert found.standard_error == math.sqrt(float(variance))
    assert found.independent == float(number**2 / weights)
    over = Fraction(sum(total for _, total in UNEQUAL), 8 * 23)
    spread = sum((Fraction(total, 8) - over * count) ** 2 for count, total in UNEQUAL)
    variance = spread * number / ((number - 1) * 23**2)
    assert found.over_answers() == AnswerMean(7, float(over), float(variance), 23)


@pytest.mark.parametrize("number", [1, 2])
def test_one_question_has_no_variance(number: int) -> None:
    """Two questions have one, and one has none."""
    found = moments_of([(2, 3), (2, 5)][:number])

    assert (found.variance is None) is (number == 1)
    assert (found.standard_error is None) is (number == 1)


def test_answers_that_are_equally_many() -> None:
    """If all questions have equally many answers, all of those may be independent."""
    assert moments_of([(3, 1), (3, 2)]).independent == 6
    assert moments_of([(3, 1), (3, 2)]).is_even
    assert QuestionMoments().is_even


def test_effective_number_has_limits() -> None:
    """It is m(1 - m)/v, but not less than the questions nor more than the answers."""
    spread = moments_of([(4, 3), (4, 5), (4, 4), (4, 6)], 8)
    share, variance = Fraction(18, 128), spread.variance
    assert variance
    found = effective_number(spread)
    assert found == 16 < float(share * (1 - share)) / variance

    apart = moments_of([(4, 0), (4, 32), (4, 0), (4, 24)])
    assert apart.variance
    assert effective_number(apart) == 4
    assert BETWEEN.variance
    expected = BETWEEN.mean * (1 - BETWEEN.mean) / BETWEEN.variance
    assert 4 < expected < 16
    assert effective_number(BETWEEN) == expected


def test_effective_number_of_equal_questions() -> None:
    """Where nothing varies it is the number of questions."""
    for total in (0, 8, 16):
        assert effective_number(moments_of([(2, total)] * 5)) == 5


@pytest.mark.parametrize("best", [1.0, 100.0])
def test_scores_of_another_range(best: float) -> None:
    """Scores of 0 to 100 have a hundred times the interval of those of 0 to 1."""
    one = moments_of(UNEQUAL)
    many = moments_of([(count, total * int(best)) for count, total in UNEQUAL])
    low, high = wilson_interval(one, 0.9) or (0.0, 0.0)

    assert effective_number(many, best) == pytest.approx(effective_number(one))
    assert wilson_interval(many, 0.9, best) == pytest.approx((low * best, high * best))


@for_each_case("found", [BETWEEN, right(21, 30)])
def test_wilson_interval_is_that_of_its_formula(found: QuestionMoments) -> None:
    """The ends are those shares from which the mean is t standard errors away."""
    number, t = effective_number(found), t_quantile(0.95, found.questions - 1)
    ends = wilson_interval(found, 0.9) or ()

    assert number == 30 or found is BETWEEN
    assert len(ends) == 2
    for end in ends:
        assert (end - found.mean) ** 2 == pytest.approx(
            t * t * end * (1 - end) / number
        )


def test_ends_of_certain_results() -> None:
    """With no right answer the low end is 0, with no wrong one the high end is 1."""
    low, high = wilson_interval(right(0, 9), 0.95) or (1.0, 0.0)
    t = t_quantile(0.975, 8)
    assert low == 0.0
    assert high == pytest.approx(t * t / (9 + t * t))
    low, high = wilson_interval(right(9, 9), 0.95) or (1.0, 0.0)
    assert low == pytest.approx(9 / (9 + t * t))
    assert high == 1.0
    for number in range(2, 60):
        assert (wilson_interval(right(0, number), 0.95) or (1.0,))[0] == 0.0
        assert (wilson_interval(right(number, number), 0.95) or (0.0,))[-1] == 1.0


@pytest.mark.parametrize(
    ("mean", "is_there"),
    [(-2e-9, False), (-1e-10, True), (1 + 1e-10, True), (1 + 2e-9, False)],
)
def test_means_beyond_the_range(mean: float, *, is_there: bool) -> None:
    """What rounding adds to a mean is left out; any more has no interval."""
    found = wilson_interval(AnswerMean(3, mean, 0.0, 3), 0.95)

    assert (found is not None) is is_there
    if found is not None:
        assert found[0] >= 0
        assert found[1] <= 1


@for_each_case(
    "value, expected",
    [
        (True, 1.0),
        (False, 0.0),
        (3, 3.0),
        (-1e100, -1e100),
        (1e100, 1e100),
        (1.0000001e100, None),
        (-math.inf, None),
        (math.nan, None),
        ("1", None),
        (None, None),
    ],
)
def test_what_is_a_number(value: object, expected: float | None) -> None:
    """A score is a number up to the largest one whose square can be summed."""
    found = number_or_none(value)

    assert found == expected
    assert type(found) is type(expected)


def test_exact_sums_are_merged() -> None:
    """A sum of sums is rounded once, and none is lost in another."""
    found, other = ExactSum(), ExactSum()
    found.add([1e100, 1.0])
    other.add([-1e100, 2.0**-60])
    found.merge(other)

    assert found.value == 1.0
    found.add([-1.0])
    assert found.value == 2.0**-60


@for_each_case(
    "count, questions, remark",
    [
        (1, 2, FEW_FAILURES),
        (4, 10, FEW_SUCCESSES),
        (4, 9, FEW_SUCCESSES),
        (5, 9, FEW_FAILURES),
        (5, 10, ""),
        (4, 100, FEW_SUCCESSES),
        (95, 100, ""),
        (96, 100, FEW_FAILURES),
    ],
)
def test_few_successes_or_failures(count: int, questions: int, remark: str) -> None:
    """Fewer than five of either make an interval approximate."""
    found = right(count, questions)
    hundred = QuestionMoments(
        {n: (q, t * 100, s) for n, (q, t, s) in found.sums.items()}
    )

    assert remark_of(found) == remark
    assert remark_of(hundred, 100.0) == remark


@pytest.mark.parametrize(
    ("others", "remark"), [(0, FEW_OTHERS), (4, FEW_OTHERS), (5, ""), (6, "")]
)
def test_few_other_scores(others: int, remark: str) -> None:
    """Fewer than five questions with another score make it approximate."""
    assert few_others_remark(right(others, 20)) == remark


def test_scores_that_all_differ() -> None:
    """More than five different means are not counted, and have no remark."""
    five = moments_of([(1, total) for total in range(5)])
    six = moments_of([(1, total) for total in range(6)])
    six.add([1], [0])

    assert five.counts is not None
    assert dict(five.counts) == {total * QUANTA / 8: 1 for total in range(5)}
    assert six.counts is None
    assert few_others_remark(five) == FEW_OTHERS
    assert few_others_remark(six) == few_others_remark(QuestionMoments()) == ""


def test_remarks() -> None:
    """Remarks are for less than their limits, and are joined as one sentence."""
    assert [resampled_remark(number) for number in (19, 20)] == [FEW_RESAMPLED, ""]
    assert lacking_remark(0) == ""
    assert lacking_remark(1) == f"1 replicate has no score{APPROXIMATE}"
    assert lacking_remark(2_000) == f"2,000 replicates have no score{APPROXIMATE}"
    assert joined_remarks(["", ""]) == ""
    assert joined_remarks([FEW_RESAMPLED, "", lacking_remark(1)]) == (
        f"few questions, 1 replicate has no score{APPROXIMATE}"
    )


@given(
    st.lists(
        st.integers(1, 6).flatmap(
            lambda count: st.lists(
                st.integers(0, QUANTA), min_size=count, max_size=count
            )
        ),
        min_size=2,
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_moments_are_those_of_the_questions_means(
    questions: list[list[int]], cut: int
) -> None:
    """Mean and variance are exact, in any order and parts."""
    found = QuestionMoments()
    for part in (questions[cut:][::-1], questions[:cut]):
        found.add([len(mine) for mine in part], [sum(mine) for mine in part])
    shares = [Fraction(sum(mine), len(mine) * QUANTA) for mine in questions]
    count = len(shares)
    mean = sum(shares) / count
    spread = sum((share - mean) ** 2 for share in shares) / (count - 1) / count
    answers = [one for mine in questions for one in mine]

    assert found.mean == float(mean)
    assert found.variance == float(spread)
    assert found.over_answers().mean == sum(answers) / (len(answers) * QUANTA)
    assert found.questions <= round(found.independent, 6) <= len(answers)
    if found.is_even:
        assert found.mean == found.over_answers().mean
        assert found.variance == found.over_answers().variance


@pytest.mark.parametrize(
    ("ahead", "behind", "questions"), [(9, 1, 20), (12, 3, 30), (10, 2, 50), (9, 1, 60)]
)
def test_as_many_questions_as_are_reported_detect_a_difference(
    ahead: int, behind: int, questions: int
) -> None:
    """The exact test of that number of questions has a power of 80 percent."""
    mean = (ahead - behind) / questions
    variance = (ahead + behind) / questions - mean**2
    error = math.sqrt(variance / (questions - 1))

    count = questions_for(mean, error, questions, 0.95, 1.0)

    shares = ahead / questions, behind / questions
    power = math.fsum(
        math.comb(count, first + second)
        * math.comb(first + second, first)
        * shares[0] ** first
        * shares[1] ** second
        * (1 - sum(shares)) ** (count - first - second)
        for first in range(count + 1)
        for second in range(count + 1 - first)
        if sign_test(first, second) < 0.05
    )
    assert 0.8 <= power < 0.9


@pytest.mark.parametrize("difference", [0.1, 0.15, 0.35, 0.5, 0.7])
def test_one_question_less_that_all_differ_has_not_that_power(
    difference: float,
) -> None:
    """Where more than a few hundred questions differ, chances are approximated."""
    error = math.sqrt(1 - difference**2) / 10
    most = questions_for(difference, error, 100, 0.95, 1.0)

    less, enough = (
        math.fsum(
            math.comb(count, few)
            * ((1 - difference) ** few / 2**count)
            * (1 + difference) ** (count - few)
            for few in range(count // 2)
            if sign_test(few, count - few) < 0.05
        )
        for count in (most - 1, most)
    )
    assert less < 0.8 < enough


def test_differences_of_any_size_need_as_many_as_by_the_normal_distribution() -> None:
    """Where questions differ by other numbers than the best score or nothing."""
    needed = ((1.95996 + 0.84162) * 0.7 / 0.1) ** 2

    assert questions_for(0.1, 0.07, 100, 0.95) == pytest.approx(needed, rel=0.01)


@pytest.mark.parametrize("level", [0.5, 0.75, 0.875, 0.9, 0.95, 0.99])
def test_so_few_questions_are_never_reported_that_none_is_significant(
    level: float,
) -> None:
    """If all of them differ in one direction, their p-value is below 1 - level."""
    count = questions_for(1.0, 1e-9, 2, level, 1.0)

    assert sign_test(count, 0) < round(1 - level, 15)
    assert count == 2 or sign_test(count - 1, 0) >= round(1 - level, 15)


@pytest.mark.parametrize(
    ("ahead", "behind"),
    [(1001, 0), (1020, 0), (600, 500), (950, 100), (1600, 1400), (900, 2500)],
)
def test_a_sign_test_of_many_questions_is_a_binomial_sum(
    ahead: int, behind: int
) -> None:
    """Its p-value is that of exact integers, in either direction."""
    count = ahead + behind
    tail = sum(math.comb(count, n) for n in range(min(ahead, behind) + 1))

    for found in (sign_test(ahead, behind), sign_test(behind, ahead)):
        assert found == pytest.approx(float(Fraction(2 * tail, 2**count)), rel=1e-9)


@pytest.mark.parametrize(
    ("ahead", "behind"), [(1024, 0), (1085, 0), (1086, 0), (1200, 0), (6000, 1000)]
)
def test_a_chance_below_the_least_float_is_neither_0_nor_1(
    ahead: int, behind: int
) -> None:
    """A p-value that no float with all digits can be is the least such float."""
    assert sign_test(ahead, behind) == sign_test(behind, ahead) == sys.float_info.min


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(raw: list[float]) -> None:
    """At any level the adjusted p-values reject as Holm's procedure does."""
    adjusted = holm(raw)
    for level in (0.01, 0.05, 0.3, *raw[:2]):
        rejected = set()
        for rank, (value, at) in enumerate(sorted((p, n) for n, p in enumerate(raw))):
            if value * (len(raw) - rank) > level or level >= 1:
                break
            rejected.add(at)
        if level < 1:
            assert {n for n, p in enumerate(adjusted) if p <= level} == rejected


@for_each_case(
    "share, freedom, expected",
    [
        (0.975, 1, 12.7062047364),
        (0.975, 29, 2.0452296421),
        (0.975, 999, 1.9623414611),
        (0.975, 1000, 1.9623390808),
        (0.975, 10**12, 1.9599639845),
        (0.9995, 2, 31.5990545764),
        (0.5, 7, 0),
    ],
)
def test_quantiles_of_t_are_those_of_tables(
    share: float, freedom: int, expected: float
) -> None:
    """Quantiles agree with tables, for few and for many degrees of freedom."""
    assert t_quantile(share, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2),
    st.sampled_from([0.8, 0.95, 0.999]),
)
def test_interval_holds_the_mean(counts: list[tuple[int, int]], level: float) -> None:
    """An interval is within 0 and 1, holds the mean, and has a width above 0."""
    moments = moments_of([(right + wrong + 1, right) for right, wrong in counts], 1)
    low, high = wilson_interval(moments, level) or (1.0, 0.0)

    assert 0 <= low <= moments.mean <= high <= 1
    assert low < high


@given(st.lists(st.floats(-1e9, 1e9), max_size=30), st.randoms())
def test_exact_sums_do_not_depend_on_order(
    values: list[float], chance: random.Random
) -> None:
    """A sum is rounded once, whatever the order and the parts, merged or not."""
    found = ExactSum()
    shuffled = values[:]
    chance.shuffle(shuffled)
    for start in range(0, len(shuffled), 4):
        part = found if start % 8 else ExactSum()
        part.add(shuffled[start : start + 4])
        if part is not found:
            found.merge(part)

    assert found.value == math.fsum(values)


@for_each_case("name", METRICS)
def test_each_metric_says_whether_it_is_pooled(name: str) -> None:
    """What a metric says before it is built is what it is."""
    try:
        measure = measure_of(name, {})
    except MetricError:
        return  # the metric needs a package or a parameter

    assert METRICS[name].is_pooled == (not (measure.is_mean or measure.labels))
    assert measure.is_bounded or not measure.is_mean or measure.scale == "any"
