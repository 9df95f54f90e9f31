"""The coverage of intervals of pairs judged in both orders, on simulated verdicts."""

from collections.abc import Iterator, Sequence
from typing import Any

from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
    PoissonBootstrap,
    resampled,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    FEW,
    QUANTA,
    QuestionMoments,
    wilson_interval,
)

MARKDOWN = """\
## Intervals of pairs of answers

The share of data sets whose interval holds the true mean of what
[`judge --pairwise`](../how-to/judge.md#pairs-of-answers) adds to verdicts. Where both
orders of a pair agree, a model wins with a chance of {better:g}. Where they do not, the
judge takes the first place twice with a chance of 0.5, or of {preference:g} if it
prefers this place, and else the second.

{coverage}

Many pairs that count as half make the interval of `win` wider than needed. Where fewer
than {few} pairs are expected to disagree, that of `first_position` may be too short: a
data set without such a pair does not show that the judge prefers a place. Where fewer
than {few} disagree, the table of scores marks it as approximate.
"""
#: Numbers of pairs, and the share of those whose orders agree.
CELLS = tuple((pairs, share) for pairs in (30, 100, 300) for share in (0.5, 0.8, 0.95))
#: The chance that one model wins where both orders agree.
BETTER = 0.6
#: The chance of the first place where they do not.
NONE, PREFERENCE = 0.5, 0.8
HEADS = (
    "win",
    "consistent",
    "first_position, no preference",
    f"first_position, {PREFERENCE:g}",
)

Row = tuple[str, list[float], list[tuple[float, float]]]


def pair_rows(
    sets: int, generator: Any, cells: Sequence[tuple[int, float]] = CELLS
) -> Iterator[Row]:
    """Yield the data, the coverage of each of `HEADS`, and its bounds.

    `generator` returns a generator of random numbers for some words.
    """
    for pairs, share in cells:
        is_usual = pairs * min(share, 1 - share) >= FEW - 1e-9
        bounds = [
            (0.92, 1.0),
            (0.92, 0.98) if is_usual else (0.85, 1.0),
            (0.92, 0.98) if is_usual else (0.92, 1.0),
            (0.92, 0.98) if is_usual else (0.5, 1.0),
        ]
        chance = generator("pairs", pairs, share)
        found = [
            *_of_means(pairs, share, sets, chance),
            _of_places(pairs, share, NONE, sets, chance),
            _of_places(pairs, share, PREFERENCE, sets, chance),
        ]
        yield f"{pairs} pairs, {100 * share:g} % agree", found, bounds


def _of_means(pairs: int, share: float, sets: int, chance: Any) -> list[float]:
    """Return the coverage of `win` and of `consistent`."""
    held = [0, 0]
    truths = (share * BETTER + (1 - share) / 2, share)
    for _ in range(sets):
        agree = chance.random(pairs) < share
        wins = (chance.random(pairs) < BETTER) * agree + 0.5 * ~agree
        for at, (values, truth) in enumerate(zip((wins, agree), truths, strict=True)):
            moments = QuestionMoments()
            moments.add([1] * pairs, [int(value * QUANTA) for value in values.tolist()])
            low, high = wilson_interval(moments, LEVEL) or (1.0, 0.0)
            held[at] += low <= truth <= high
    return [count / sets for count in held]


def _of_places(pairs: int, share: float, first: float, sets: int, chance: Any) -> float:
    """Return the coverage of `first_position`, whose truth follows from `first`."""
    keys = [digest_of(f"{number}") for number in range(pairs)]
    truth, held = 0.5 + (1 - share) * (first - 0.5), 0
    for seed in range(sets):
        differ = chance.random(pairs) >= share
        places = 0.5 + differ * ((chance.random(pairs) < first) - 0.5)
        bootstrap = PoissonBootstrap(REPLICATES, SEED + seed)
        bootstrap.add(keys, [(place, 1.0) for place in places.tolist()])
        ((low, high),) = (
            limits or (1.0, 0.0)
            for limits, _ in resampled(bootstrap.replicated(means(1)))
        )
        held += low <= truth <= high
    return held / sets
