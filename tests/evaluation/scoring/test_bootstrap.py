"""Bootstrap intervals by question, from statistics."""

import importlib
import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, repeat
from statistics import stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import Output, Record, ScoreError
from harpia_formats.conversion.mapping.questions import digest_of, question_key
from harpia_formats.evaluation.metrics import measure_of
from harpia_formats.evaluation.metrics.label_counts import (
    OTHER,
    LabelPair,
)
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.measures.question_scores import (
    LabelBootstrap,
    count_labels,
)
from harpia_formats.evaluation.scoring.significance import bootstrap
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    PoissonBootstrap,
    flips_of,
    limits_of,
    resampled,
    unavailable_reason,
    weights_of,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    compare_pairs,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    MetricAnswers,
    PairedTest,
    QuestionSums,
)

numpy = pytest.importorskip("numpy", reason="the extra score is not installed")

Rows = Sequence[tuple[float, ...]]
mean = means(1)


def scored(count: int, seed: int = 1, shift: float = 0.0) -> Rows:
    """Return the statistics of as many answers, with scores of 0 to 1 and more."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    return [(chance.random() + shift, 1) for _ in range(count)]


def keys(count: int) -> list[bytes]:
    """Return the digests of as many questions."""
    return [digest_of(f"{number}") for number in range(count)]


def bootstrap_of(rows: Rows, **settings: int) -> PoissonBootstrap:
    """Return the bootstrap of all rows, each of a question of its own."""
    found = PoissonBootstrap(**settings)
    found.add(keys(len(rows)), rows)
    return found


def intervals(found: PoissonBootstrap, scores: Any, level: float = 0.95) -> list[Any]:
    """Return the interval of each score."""
    return [limits for limits, _ in resampled(found.replicated(scores), level)]


def compared(
    one: Rows, other: Rows, scores: Any = mean, name: str | None = None, **given: int
) -> Any:
    """Return the comparison of two systems with one answer a question, if any."""
    sums = [
        QuestionSums.of_answers([[row] for row in rows], len(rows[0]) if rows else 2)
        for rows in (one, other)
    ]
    best = 1.0 if scores is mean else None
    answers = MetricAnswers(scores, len(scores(())), best, keys(len(one)), sums)
    settings = {"replicates": 1000, "seed": 12345} | given
    test = PairedTest(name, level=0.95, **settings)
    ((found,),) = compare_pairs(answers, [(0, 1)], test)
    return found


def test_the_interval_of_a_mean_is_that_of_theory() -> None:
    """For many questions it lies about two standard errors to both sides."""
    rows = scored(5000)
    values = [each for each, _ in rows]
    (limits,) = intervals(bootstrap_of(rows), mean)
    error = 1.96 * stdev(values) / len(values) ** 0.5

    assert limits[0] == pytest.approx(sum(values) / 5000 - error, abs=error / 5)
    assert limits[1] == pytest.approx(sum(values) / 5000 + error, abs=error / 5)


def test_a_higher_level_has_a_wider_interval() -> None:
    """Limits at 99 % lie outside of those at 80 %."""
    found = bootstrap_of(scored(300))
    (narrow,), (wide,) = intervals(found, mean, 0.8), intervals(found, mean, 0.99)

    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@examples(15)
@given(st.lists(st.integers(1, 700), max_size=4), st.randoms())
def test_order_and_chunks_do_not_matter(cuts: list[int], chance: random.Random) -> None:
    """Answers in any order and chunks give the same digits."""
    rows, questions = scored(700), keys(350) * 2
    whole = PoissonBootstrap(replicates=50)
    whole.add(questions, rows)
    shuffled = list(zip(questions, rows, strict=True))
    chance.shuffle(shuffled)
    merged = PoissonBootstrap(replicates=50)
    for start, end in pairwise([0, *sorted(cuts), len(rows)]):
        merged.add(
            [key for key, _ in shuffled[start:end]],
            [row for _, row in shuffled[start:end]],
        )

    assert intervals(merged, mean) == intervals(whole, mean)


def test_answers_to_one_question_are_drawn_together() -> None:
    """Ten equal answers to each question have the interval of one answer to each."""
    one, ten = PoissonBootstrap(), PoissonBootstrap()
    rows = scored(60)
    one.add(keys(60), rows)
    ten.add(keys(60) * 10, list(rows) * 10)

    assert intervals(ten, mean) == intervals(one, mean)


def test_the_seed_decides() -> None:
    """The same seed gives the same limits, and another gives others."""
    rows = scored(100)

    assert intervals(bootstrap_of(rows), mean) == intervals(bootstrap_of(rows), mean)
    assert intervals(bootstrap_of(rows), mean) != intervals(
        bootstrap_of(rows, seed=7), mean
    )


@pytest.mark.parametrize("rows", [[], [(1.0, 1)]])
def test_too_little_is_not_compared(rows: Rows) -> None:
    """Fewer than two questions have no difference with an interval."""
    assert compared(rows, rows) is None


def test_every_score_has_its_interval() -> None:
    """Of several scores each has limits, in their order."""
    rows = [(a, 2 + a, 1) for a, _ in scored(200)]
    one, other = intervals(bootstrap_of(rows), means(2))

    assert other == pytest.approx((one[0] + 2, one[1] + 2))


def test_weights_are_poisson() -> None:
    """A question counts as often as a Poisson number says, each on its own."""
    weights = weights_of(keys(256), 1, 4000)
    shares = numpy.bincount(weights.ravel(), minlength=4)[:4] / weights.size

    assert weights.shape == (256, 4000)
    assert shares == pytest.approx([0.3679, 0.3679, 0.1839, 0.0613], abs=2e-3)
    assert weights.mean() == pytest.approx(1, abs=4e-3)
    assert numpy.corrcoef(weights[0], weights[1])[0, 1] == pytest.approx(0, abs=0.06)
    assert numpy.corrcoef(weights[0, 1:], weights[0, :-1])[0, 1] == pytest.approx(
        0, abs=0.06
    )


def test_draws_are_the_same_in_every_version() -> None:
    """The same seed gives the digits of intervals and p-values that it gave before."""
    weights = [[1, 3, 2, 0, 0, 1, 0, 0], [0, 2, 0, 0, 0, 1, 1, 0]]
    flips = [[1, 0, 0, 0, 1, 1, 1, 0], [1, 1, 0, 1, 0, 0, 1, 0]]

    assert weights_of(keys(2), 12345, 8).tolist() == weights
    assert flips_of(keys(2), 12345, 8).tolist() == flips


def test_the_least_p_value_is_that_of_no_exchange_as_far() -> None:
    """One exchange more has twice that value, which is not the least."""
    for shift, as_far in ((0.3, 1), (0.9, 0)):
        one, other = scored(25, seed=27, shift=shift), scored(25, 127)
        found = compared(one, other, name="permutation")

        assert found.p_value == (1 + as_far) / 10001
        assert found.is_least is not bool(as_far)


def test_flips_are_fair_and_independent() -> None:
    """Each question is flipped in half of the draws, whatever the others do."""
    flips = flips_of(keys(100), 1, 10_000).astype(float)

    assert flips.shape == (100, 10_000)
    assert flips.mean(1) == pytest.approx([0.5] * 100, abs=0.025)
    assert numpy.corrcoef(flips[0], flips[1])[0, 1] == pytest.approx(0, abs=0.04)


def test_without_numpy_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base install has no bootstrap, and says what to install."""
    monkeypatch.setattr(bootstrap, "find_spec", lambda _: None)

    assert intervals(bootstrap_of(scored(10)), mean) == []
    assert "pip install 'harpia-formats[score]'" in unavailable_reason()


def test_a_system_does_not_differ_from_itself() -> None:
    """Equal systems have the difference 0 and the p-value 1."""
    rows = scored(50)
    found = compared(rows, rows)

    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)
    assert found.detectable is None
    assert "few questions differ" in found.remark


def test_a_difference_has_the_standard_error_of_its_questions() -> None:
    """Of a pooled score it is that of its replicates."""
    one, other = scored(50, shift=0.25), scored(50, seed=2)
    parts = [a - b for (a, _), (b, _) in zip(one, other, strict=True)]
    expected = stdev(parts) / math.sqrt(50) * (1 + 1 / (4 * 49))
    found, pooled = (compared(one, other, by) for by in (mean, partial(mean)))

    assert found.standard_error == pytest.approx(expected)
    assert pooled.standard_error == pytest.approx(expected, rel=0.1)


def test_limits_of_no_difference_have_the_same_digits_in_either_order() -> None:
    """Systems with equal means may differ on every question."""
    for count in range(8, 30):
        one = scored(count)
        pairs = (one, one[::-1]), (one[::-1], one)
        found, back = (compared(*pair, replicates=20) for pair in pairs)

        assert found.difference == back.difference == 0
        assert (found.low, found.high) == (-back.high, -back.low) != (0, 0)


def test_there_are_as_many_replicates_as_asked_for() -> None:
    """Any number of them, although four are drawn at once."""
    for replicates in (1, 3, 4, 10):
        found = bootstrap_of(scored(5), replicates=replicates)
        assert len(list(found.replicated(mean))) == replicates


@pytest.mark.parametrize(("name", "p"), [("bootstrap", 1 / 1001), (None, 2**-79)])
def test_a_better_system_has_a_small_p_value(name: str | None, p: float) -> None:
    """A difference on every question is certain, the sign being that of the first."""
    found = compared(scored(80, shift=0.125), scored(80), name=name)

    assert found.difference == pytest.approx(0.125)
    assert (found.low, found.high) == pytest.approx((0.125, 0.125), abs=1e-6)
    assert found.p_value == pytest.approx(p)
    assert found.is_least == (name == "bootstrap")


def texts(count: int, wrong: float, seed: int) -> tuple[list[str], list[str]]:
    """Return answers, a share of whose words are wrong, and their references."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    voices = [str(each) for each in range(40)]
    sentences = random.Random(0)  # noqa: S311 - a seeded sample, not a secret
    references = [sentences.choices(voices, k=12) for _ in range(count)]
    answers = [
        [chance.choice(voices) if chance.random() < wrong else each for each in line]
        for line in references
    ]
    return [" ".join(each) for each in answers], [" ".join(each) for each in references]


@pytest.mark.parametrize(
    "wrong",
    [0.21, *(pytest.param(one, marks=pytest.mark.long) for one in (0.23, 0.3)), 0.25],
)
def test_intervals_are_near_those_of_sacrebleu(wrong: float) -> None:
    """Bootstrap intervals of BLEU agree with sacrebleu's except for chance.

    Our p-value is two-sided, and so never much below sacrebleu's.
    """
    sacrebleu = pytest.importorskip("sacrebleu", reason="the extra is not installed")
    significance: Any = importlib.import_module("sacrebleu.significance")

    one, references = texts(300, 0.2, 1)
    other, _ = texts(300, wrong, 2)
    measure = measure_of("bleu", {})

    def rows(answers: Sequence[str]) -> Rows:
        both = zip(answers, references, strict=True)
        return [measure.statistics(answer, [each]) for answer, each in both]

    systems = [("one", one), ("other", other)]
    bleu = {"BLEU": sacrebleu.BLEU()}
    test = significance.PairedTest(systems, bleu, [references], "bs", 2000)
    theirs = test()[1]["BLEU"][1]
    first = rows(one)
    ours = compared(first, rows(other), measure.scores, replicates=2000)
    (limits,) = intervals(bootstrap_of(first), measure.scores)
    (_, result) = test._baseline_info["BLEU"]  # noqa: SLF001 - the interval of the first

    assert ours.p_value > theirs.p_value - 0.03
    assert (limits[1] - limits[0]) / 2 == pytest.approx(result.ci, rel=0.15)


@given(st.lists(st.floats(-9, 9), min_size=1), st.floats(0, 1))
def test_limits_lie_between_the_values(values: list[float], level: float) -> None:
    """Limits are in order, and at the whole level they are the extremes."""
    limits = limits_of(values, level)

    assert limits is not None
    assert min(values) <= limits[0] <= limits[1] + 1e-9
    assert limits[1] <= max(values)
    assert limits_of(values, 1) == (min(values), max(values))


LABELS = st.sampled_from(["yes", "no", "não", "نعم", ""])


@examples(15)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12), st.integers(0, 12))
def test_replicates_are_those_of_the_statistics(
    pairs: list[tuple[str, str]], cut: int
) -> None:
    """Counts of labels, added in two parts, give the replicates of statistics."""
    pytest.importorskip("numpy", reason="the extra score is not installed")
    labels = ["no", "yes", "", "não", "نعم"]
    measures = [
        measure_of("mcc", {"labels": labels}),
        measure_of("kappa", {"labels": labels, "weights": "quadratic"}),
    ]
    keys = [
        question_key(Record(id=number, outputs=[Output()]), number)
        for number in range(len(pairs))
    ]
    for measure in measures:
        assert measure.labels is not None
        dense = PoissonBootstrap(20, 5)
        found = [(LabelPair(reference, answer), 1) for answer, reference in pairs]
        dense.add(keys, [measure.labels.row(pair, labels) for pair, _ in found])
        counts = LabelBootstrap(measure.labels.reading, 20, 5)
        counts.add(keys[:cut], found[:cut])
        counts.add(keys[cut:], found[cut:])
        ours = [row[0] for row in counts.replicated([measure.labels])]

        scores = partial(measure.labels.scores_of, labels=labels)
        assert ours == list(dense.replicated(scores))


def test_replicates_take_as_few_bytes_as_their_numbers() -> None:
    """Sums beyond 8 and 16 bits are exact, and small ones take a byte each."""
    pytest.importorskip("numpy", reason="the extra score is not installed")
    metric = measure_of("precision", {"labels": ["no", "yes"], "average": "micro"})
    assert metric.labels is not None
    right, wrong = LabelPair("no", "no"), LabelPair("no", "yes")
    small = LabelBootstrap(metric.labels.reading, 1_000, 5)
    small.add([b"1" * 16, b"2" * 16], [(right, 1), (wrong, 1)])
    for count in (300, 70_000):
        # Sums that wrap would give other shares of right answers.
        large = LabelBootstrap(metric.labels.reading, 20, 5)
        for _ in range(2):
            large.add([b"1" * 16] * 2, [(right, count), (wrong, 7)])
        found = [row[0][0] for row in large.replicated([metric.labels])]
        assert {one for one in found if one is not None} == {count / (count + 7)}

    assert max(sums.nbytes for sums in small._sums.values()) == 1_000  # noqa: SLF001 - its size is what is asked


def test_the_number_of_labels_is_bounded() -> None:
    """A hundred labels are scored, and one more is an error."""
    counts: Counter[LabelPair] = Counter()
    names = [str(number) for number in range(100)]
    count_labels("f1-macro", counts, map(LabelPair, names, names))
    count_labels("f1-macro", counts, map(LabelPair, names, repeat(OTHER)))

    with pytest.raises(ScoreError, match="these are texts"):
        count_labels("f1-macro", counts, [LabelPair("100", "0")])
