"""Confidence intervals and paired comparisons from statistics."""

import importlib
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import stdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harpia_formats.metrics import measure_of
from harpia_formats.metrics.mean import means
from harpia_formats.scoring import bootstrap as resampling
from harpia_formats.scoring.bootstrap import (
    BLOCK,
    Comparison,
    PoissonBootstrap,
    compare_bootstraps,
    compare_paired,
    limits_of,
    unavailable_reason,
    weights_of,
)

numpy = pytest.importorskip("numpy", reason="the extra score is not installed")

Rows = Sequence[tuple[float, ...]]
mean = means(1)


def scored(count: int, seed: int = 1, shift: float = 0.0) -> Rows:
    """Return the statistics of as many records, with scores of 0 to 1 and more."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    return [(chance.random() + shift, 1) for _ in range(count)]


def resampled(rows: Rows, **settings: int) -> PoissonBootstrap:
    """Return the resampling of all rows."""
    found = PoissonBootstrap(**settings)
    found.add(rows)
    return found


def test_the_interval_of_a_mean_is_that_of_theory() -> None:
    """For many records it lies about two standard errors to both sides."""
    rows = scored(5000)
    values = [each for each, _ in rows]
    (limits,) = resampled(rows).interval(mean)
    error = 1.96 * stdev(values) / len(values) ** 0.5

    assert limits is not None
    assert limits[0] == pytest.approx(sum(values) / 5000 - error, abs=error / 5)
    assert limits[1] == pytest.approx(sum(values) / 5000 + error, abs=error / 5)


def test_a_higher_level_has_a_wider_interval() -> None:
    """Limits at 99 % lie outside of those at 80 %."""
    found = resampled(scored(300))
    (narrow,), (wide,) = found.interval(mean, 0.8), found.interval(mean, 0.99)

    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 3 * BLOCK), max_size=4), st.randoms())
def test_chunks_do_not_matter(cuts: list[int], chance: random.Random) -> None:
    """Chunks of any size, on several workers and merged in any order, give the same."""
    rows = scored(3 * BLOCK + 5)
    whole = resampled(rows, replicates=50)
    edges = [0, *sorted(cuts), len(rows)]
    parts = list(pairwise(edges))
    chance.shuffle(parts)
    merged = PoissonBootstrap(replicates=50)
    for start, end in parts:
        part = PoissonBootstrap(replicates=50)
        part.add(rows[start:end], first=start)
        merged.merge(part)

    assert merged.interval(mean) == whole.interval(mean)
    assert merged.observed == whole.observed
    assert (merged.count, merged.next_number) == (whole.count, whole.next_number)


def test_rows_are_numbered_on() -> None:
    """Without a number, rows continue the numbers of the last call."""
    rows = scored(700)
    whole, parts = resampled(rows), PoissonBootstrap()
    for start in range(0, 700, 9):
        parts.add(iter(rows[start : start + 9]))

    assert parts.interval(mean) == whole.interval(mean)


def test_the_seed_decides() -> None:
    """The same seed gives the same limits, and another gives others."""
    rows = scored(100)

    assert resampled(rows).interval(mean) == resampled(rows).interval(mean)
    assert resampled(rows).interval(mean) != resampled(rows, seed=7).interval(mean)


def test_observed_score_is_exact() -> None:
    """The score of all records is not rounded as the weighted ones are."""
    rows = scored(1000)
    (found,) = mean(resampled(rows).observed)

    assert found == pytest.approx(sum(each for each, _ in rows) / 1000, abs=1e-13)


@pytest.mark.parametrize("rows", [[], [(1.0, 1)], [(0.0, 0), (0.0, 0)]])
def test_too_little_has_no_interval(rows: Rows) -> None:
    """Fewer than two records, or none with a score, have no limits."""
    assert resampled(rows).interval(mean) == [None]
    assert compare_paired(rows, rows, mean) == [None]


def test_every_score_has_its_interval() -> None:
    """Of several scores each has limits, in their order."""
    rows = [(a, 2 + a, 1) for a, _ in scored(200)]
    one, other = resampled(rows).interval(means(2))

    assert one is not None
    assert other == pytest.approx((one[0] + 2, one[1] + 2))


def test_weights_are_poisson() -> None:
    """Each record counts as often as a Poisson number says, on its own."""
    weights = weights_of(1, 0, 4000)
    shares = numpy.bincount(weights.ravel(), minlength=4)[:4] / weights.size

    assert shares == pytest.approx([0.3679, 0.3679, 0.1839, 0.0613], abs=2e-3)
    assert weights.mean() == pytest.approx(1, abs=4e-3)
    assert numpy.corrcoef(weights[0], weights[1])[0, 1] == pytest.approx(0, abs=0.06)


def test_unlike_resamplings_are_not_mixed() -> None:
    """Another seed or size, or other numbers of records, are a caller's mistake."""
    with pytest.raises(ValueError, match="same seed and replicates can be merged"):
        PoissonBootstrap().merge(PoissonBootstrap(seed=1))
    with pytest.raises(ValueError, match="same seed and replicates can be compared"):
        compare_bootstraps(PoissonBootstrap(), PoissonBootstrap(replicates=5), mean)
    with pytest.raises(ValueError, match="has 3 records and the second 2"):
        compare_paired(scored(3), scored(2), mean)


def test_without_numpy_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base install counts records, has no intervals, and says what to install."""
    monkeypatch.setattr(resampling, "find_spec", lambda _: None)
    found = resampled(scored(10))

    assert (found.count, found.interval(mean)) == (10, [None])
    assert compare_paired(scored(10), scored(10), mean) == [None]
    assert "pip install 'harpia-formats[score]'" in unavailable_reason()


def test_a_system_does_not_differ_from_itself() -> None:
    """Equal systems have the difference 0 and the p-value 1."""
    rows = scored(50)

    assert compare_paired(rows, rows, mean) == [Comparison(0, 0, 0, 1.0)]


def test_a_better_system_has_a_small_p_value() -> None:
    """A difference on every record is certain, the sign being that of the first."""
    (found,) = compare_paired(scored(80, shift=0.1), scored(80), mean)

    assert found is not None
    assert found.difference == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1), abs=1e-6)
    assert found.p_value == pytest.approx(1 / 1001)


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


@pytest.mark.parametrize("wrong", [0.21, 0.23, 0.25, 0.3])
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
    (ours,) = compare_paired(first, rows(other), measure.scores, replicates=2000)
    (limits,) = resampled(first).interval(measure.scores)
    (_, result) = test._baseline_info["BLEU"]  # noqa: SLF001 - the interval of the first

    assert ours is not None
    assert limits is not None
    assert ours.p_value > theirs.p_value - 0.03
    assert (limits[1] - limits[0]) / 2 == pytest.approx(result.ci, rel=0.15)


def test_p_values_are_calibrated() -> None:
    """Without a true difference a p-value below 0.05 is as rare as it says."""
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    below, runs = 0, 300
    for seed in range(runs):
        one, other = (
            [(float(chance.random() < 0.6), 1.0) for _ in range(100)] for _ in range(2)
        )
        (found,) = compare_paired(one, other, mean, replicates=200, seed=seed)
        assert found is not None
        below += found.p_value < 0.05

    assert 0.01 < below / runs < 0.085


@given(st.lists(st.floats(-9, 9), min_size=1), st.floats(0, 1))
def test_limits_lie_between_the_values(values: list[float], level: float) -> None:
    """Limits are in order, and at the whole level they are the extremes."""
    limits = limits_of(values, level)

    assert limits is not None
    assert min(values) <= limits[0] <= limits[1] + 1e-9
    assert limits[1] <= max(values)
    assert limits_of(values, 1) == (min(values), max(values))
