"""The coverage of intervals of the bootstrap, on data sets whose truth is known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
    PoissonBootstrap,
    resampled,
)
from harpia_formats.evaluation.scoring.significance.intervals import FEW_QUESTIONS

MARKDOWN = """\
## Intervals of pooled scores and of means without bounds

The same share for the bootstrap by question, with one answer each: a mean of normal and
one of exponential scores, which are as skewed as lengths may be, and a pooled score, a
quotient of counts of 20 to 60 words a question.

{coverage}

From {few} questions on, a coverage of 0.92 to 0.98 is required, and of skewed scores at
least 0.9. With fewer, the percentiles of the replicates are too close together, and the
tables of scores and of differences mark the interval as approximate.
"""
#: Numbers of questions.
SIZES = (2, 3, 5, 10, 20, 30, 100)
#: The chance of an error in a word.
_ERROR = 0.25


@dataclass(frozen=True, slots=True)
class Population:
    """Scores of which data sets are drawn."""

    #: Returns the two statistics of each question, whose quotient is the score.
    draw: Callable[[Any, int], Any]
    truth: float
    #: The least coverage that is required of many questions.
    least: float = 0.92


def _mean(name: str) -> Callable[[Any, int], Any]:
    """Return what draws scores of a distribution as the statistics of a mean."""

    def drawn(chance: Any, questions: int) -> Any:
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        return np.stack(
            [getattr(chance, name)(size=questions), np.ones(questions)], axis=-1
        )

    return drawn


def _pooled(chance: Any, questions: int) -> Any:
    """Return errors and words by question."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    words = chance.integers(20, 61, questions)
    shares = chance.beta(8 * _ERROR, 8 * (1 - _ERROR), questions)
    return np.stack([chance.binomial(words, shares), words], axis=-1, dtype=float)


POPULATIONS: Mapping[str, Population] = {
    "normal": Population(_mean("standard_normal"), 0.0),
    "exponential": Population(_mean("standard_exponential"), 1.0, 0.9),
    "pooled": Population(_pooled, _ERROR),
}


def _quotient(sums: Sequence[float]) -> tuple[float | None, ...]:
    return (sums[0] / sums[1] if sums[1] else None,)


def held_share(population: Population, questions: int, sets: int, chance: Any) -> float:
    """Return the share of data sets whose interval holds the true score."""
    keys = [digest_of(f"{number}") for number in range(questions)]
    held = 0
    for seed in range(sets):
        bootstrap = PoissonBootstrap(REPLICATES, SEED + seed)
        bootstrap.add(keys, population.draw(chance, questions).tolist())
        ((limits, _),) = resampled(bootstrap.replicated(_quotient), LEVEL)
        low, high = limits or (1.0, 0.0)
        held += low <= population.truth <= high
    return held / sets


def bootstrap_rows(
    sets: int, generator: Any, sizes: Sequence[int] = SIZES
) -> Iterator[tuple[str, list[float], list[tuple[float, float]]]]:
    """Yield the data, the coverage of each population, and its bounds.

    `generator` returns a generator of random numbers for some words.
    """
    for questions in sizes:
        found = [
            held_share(
                population, questions, sets, generator("bootstrap", name, questions)
            )
            for name, population in POPULATIONS.items()
        ]
        is_few = questions < FEW_QUESTIONS
        bounds = [
            (0.0, 1.0) if is_few else (population.least, 0.98)
            for population in POPULATIONS.values()
        ]
        yield f"{questions} questions", found, bounds
