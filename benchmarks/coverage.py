"""Measure what intervals and tests promise, on data sets whose truth is known.

Intervals and p-values come from the functions of the product; only the data are
simulated. `docs/benchmarks/coverage.md` has the definitions and the results.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from pathlib import Path
from typing import Any

import bootstrap_coverage
import comparison_coverage
import label_coverage
import pair_coverage
from harness.candidates import ROOT
from question_coverage import CELLS as QUESTION_CELLS
from question_coverage import METRICS, WRONG, held_share
from report.tables import table

from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.metrics.question_metrics import pass_at_k
from harpia_formats.evaluation.scoring.measures.question_scores import FEW as FEW_LABELS
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    FEW,
    FEW_QUESTIONS,
    QUANTA,
    QuestionMoments,
    wilson_interval,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    compare_pairs,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    BOOTSTRAP,
    PERMUTATION,
    MetricAnswers,
    PairedTest,
    QuestionSums,
)

MARKDOWN = """\
# Coverage of intervals and false positives of tests

Written by `benchmarks/coverage.py`: {sets:,} simulated data sets a cell, at a level of
95 percent. Every interval and p-value is that of the functions which `score` and
`score compare` use.

## Intervals of means between 0 and 1

The share of data sets whose interval holds the true mean *p*. With ten answers, the
chance of a right answer differs between questions: it is drawn from Beta(*cp*,
*c*(1 - *p*)), where a small *c* means questions that are nearly always or nearly never
answered rightly.

{coverage}

Where the number of questions times min(*p*, 1 - *p*) is at least {few}, a coverage of
0.92 to 0.98 is required; otherwise at least 0.85, and the table of scores marks the
interval as approximate.

## Intervals of pass@k and maj@k

The same share for scores of questions, with ten answers to each unless the column says
otherwise. The chance of a right answer to a question is drawn as above, and {wrong}
wrong answers are equally likely. The true mean of a score follows from these chances,
and the same bounds hold for it.

{questions}

{resampled}
## Tests of two equal systems

The share of pairs of equally good systems with a p-value below 0.05. The answers of
both systems are drawn independently, with the same chance or the same distribution of
scores for a question.

{tests}

At most 0.055 is required of the permutation test and at most 0.075 of the bootstrap,
and of continuous scores at least 0.03. For scores of 0 and 1 there is no lower bound:
with few questions that differ, only few p-values are possible.

{comparisons}{labels}
{pairs}
To repeat it: `python benchmarks/coverage.py --sets {sets}`
"""
#: Numbers of questions with the true mean.
CELLS = (
    (30, 0.5),
    (30, 0.7),
    (30, 0.8),
    (30, 0.95),
    (30, 0.98),
    (50, 0.9),
    (100, 0.95),
    (100, 0.99),
    (500, 0.95),
)
#: The number of answers to a question, and c; None if all questions are alike.
ANSWERS: tuple[tuple[int, float | None], ...] = ((1, None), (10, 1.0), (10, 4.0))
#: The kinds of scores of two equal systems: answers to a question, and c; a c of None
#: is a continuous score.
NULLS: dict[str, tuple[int, float | None]] = {
    "continuous, 1 answer": (1, None),
    "continuous, 10 answers": (10, None),
    "0 or 1, 1 answer": (1, 4.0),
    "0 or 1, 10 answers": (10, 1.0),
    "pass@5 of 10 answers": (10, 1.0),
}
#: The kinds whose scores are those of questions: k of pass@k.
NULLS_OF_QUESTIONS = {"pass@5 of 10 answers": 5}
QUESTIONS = (30, 50, 100)
#: Standard deviations by which few data sets may be beyond a bound.
SLACK = 3
#: From so many data sets on, bounds hold without slack.
MANY = 2000
TESTS = (PERMUTATION, BOOTSTRAP)
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured share with its bounds."""

    name: str
    share: float
    least: float
    most: float

    def is_met(self, sets: int) -> bool:
        """Tell whether the share is within its bounds, wider for few data sets."""
        return all(
            side * (bound - self.share) <= _slack(bound, sets)
            for side, bound in ((1, self.least), (-1, self.most))
        )


def _slack(bound: float, sets: int) -> float:
    return SLACK * sqrt(bound * (1 - bound) / sets) if sets < MANY else 0.0


def coverage(
    questions: int, mean: float, answers: int, spread: float | None, sets: int
) -> Cell:
    """Return the share of data sets whose interval holds the true mean."""
    chance = _generator("coverage", questions, mean, answers, spread)
    held = 0
    for _ in range(sets):
        shares = _shares(chance, questions, mean, spread)
        right = chance.binomial(answers, shares).tolist()
        moments = QuestionMoments()
        moments.add([answers] * questions, [count * QUANTA for count in right])
        low, high = wilson_interval(moments, LEVEL) or (1.0, 0.0)
        held += low <= mean <= high
    name = f"{questions} questions, p {mean:g}"
    return Cell(name, held / sets, *_bounds(questions, mean))


def _bounds(questions: int, mean: float) -> tuple[float, float]:
    """Return the least and the most that a coverage may be."""
    is_usual = questions * min(mean, 1 - mean) >= FEW - 1e-9
    return (0.92, 0.98) if is_usual else (0.85, 1.0)


def question_cells(
    sets: int, cells: Sequence[tuple[int, float, float]] = QUESTION_CELLS
) -> Iterator[list[Cell]]:
    """Yield for each number of questions and chance a cell for each metric of them."""
    for questions, mean, spread in cells:
        name = f"{questions} questions, p {mean:g}, c = {spread:g}"
        yield [
            Cell(
                name,
                held_share(
                    metric,
                    (questions, mean, spread),
                    sets,
                    _generator(metric.name, questions, mean, spread),
                ),
                *_bounds(questions, metric.truth(mean, spread)),
            )
            for metric in METRICS
        ]


def false_positives(
    kind: str, questions: int, test: str, sets: int, replicates: int = REPLICATES
) -> Cell:
    """Return the share of pairs of equal systems with a p-value below 0.05."""
    answers, spread = NULLS[kind]
    chance = _generator(kind, questions)
    keys = [digest_of(f"{number}") for number in range(questions)]
    below = 0
    for seed in range(sets):
        systems = _systems(chance, questions, answers, spread)
        if kind in NULLS_OF_QUESTIONS:
            systems = [_passed(system, NULLS_OF_QUESTIONS[kind]) for system in systems]
        sums = [QuestionSums.of_answers(system, 2) for system in systems]
        paired = MetricAnswers(means(1), 1, 1.0, keys, sums)
        settings = PairedTest(test, replicates, SEED + seed, LEVEL)
        ((found,),) = compare_pairs(paired, [(0, 1)], settings)
        below += found is not None and found.p_value < ALPHA
    least = 0.03 if spread is None else 0.0
    most = 0.055 if test == PERMUTATION else 0.075
    return Cell(f"{kind}, {questions} questions", below / sets, least, most)


def _systems(
    chance: Any, questions: int, answers: int, spread: float | None
) -> list[list[list[tuple[float, float]]]]:
    """Return the statistics of each answer of two equal systems, by question."""
    size = (2, questions, answers)
    if spread is None:
        ease = chance.random((1, questions, 1))
        drawn = chance.beta(2 * ease + 0.5, 2.5 - 2 * ease, size)
    else:
        shares = chance.beta(spread * 0.7, spread * 0.3, (1, questions, 1))
        drawn = (chance.random(size) < shares).astype(float)
    return [
        [[(score, 1.0) for score in scores] for scores in system]
        for system in drawn.tolist()
    ]


def _passed(
    system: Sequence[Sequence[tuple[float, float]]], k: int
) -> list[list[tuple[float, float]]]:
    """Return the statistics of pass@k of each question, from those of its answers."""
    return [
        [(pass_at_k(len(answers), round(sum(score for score, _ in answers)), k), 1.0)]
        for answers in system
    ]


def _shares(chance: Any, questions: int, mean: float, spread: float | None) -> Any:
    """Return the chance of a right answer to each question."""
    if spread is None:
        return [mean] * questions
    return chance.beta(spread * mean, spread * (1 - mean), questions)


def _generator(*words: object) -> Any:
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    digest = digest_of(*(f"{word}" for word in words))
    return np.random.default_rng(int.from_bytes(digest, "little"))


def coverage_cells(
    sets: int, cells: Sequence[tuple[int, float]] = CELLS
) -> Iterator[list[Cell]]:
    """Yield for each number of questions and mean a cell for each of `ANSWERS`."""
    for questions, mean in cells:
        yield [
            coverage(questions, mean, answers, spread, sets)
            for answers, spread in ANSWERS
        ]


def bootstrap_cells(
    sets: int, sizes: Sequence[int] = bootstrap_coverage.SIZES
) -> Iterator[list[Cell]]:
    """Yield for each number of questions a cell for each kind of resampled scores."""
    for name, shares, bounds in bootstrap_coverage.bootstrap_rows(
        sets, _generator, sizes
    ):
        yield [
            Cell(name, share, *both) for share, both in zip(shares, bounds, strict=True)
        ]


def null_cells(
    sets: int, sizes: Sequence[int] = QUESTIONS, replicates: int = REPLICATES
) -> Iterator[list[Cell]]:
    """Yield for each kind of scores and number of questions a cell for each test."""
    for kind in NULLS:
        for questions in sizes:
            yield [
                false_positives(kind, questions, test, sets, replicates)
                for test in TESTS
            ]


def label_cells(
    sets: int, sizes: Sequence[int] = label_coverage.QUESTIONS
) -> Iterator[list[Cell]]:
    """Yield for each kind of labels a cell for each metric of labels."""
    for name, shares, bounds in label_coverage.label_rows(sets, _generator, sizes):
        yield [Cell(name, share, *bounds) for share in shares]


def pair_cells(
    sets: int, cells: Sequence[tuple[int, float]] = pair_coverage.CELLS
) -> Iterator[list[Cell]]:
    """Yield for each number of judged pairs a cell for each value of a pair."""
    for name, shares, bounds in pair_coverage.pair_rows(sets, _generator, cells):
        yield [
            Cell(name, share, *both) for share, both in zip(shares, bounds, strict=True)
        ]


def comparison_cells(
    sets: int,
    sizes: Sequence[int] = comparison_coverage.SIZES,
    replicates: int = REPLICATES,
    label_sizes: Sequence[int] = comparison_coverage.LABEL_SIZES,
) -> Iterator[list[Cell]]:
    """Yield a cell for each promise of comparisons, those of labels last."""
    for name, share, bounds in chain(
        comparison_coverage.comparison_rows(sets, _generator, replicates, sizes),
        comparison_coverage.label_rows(sets, _generator, replicates, label_sizes),
    ):
        yield [Cell(name, share, *bounds)]


def cells_table(heads: Sequence[str], rows: Sequence[Sequence[Cell]], sets: int) -> str:
    """Return the measured shares as a table; one beyond its bounds has a `!`."""
    return table(
        heads,
        [
            [
                row[0].name,
                *(
                    f"{cell.share:.3f}{'' if cell.is_met(sets) else ' !'}"
                    for cell in row
                ),
            ]
            for row in rows
        ],
    )


def main(given: list[str] | None = None) -> int:
    """Measure, write the tables, and return 1 if a share is beyond its bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=MANY, help="data sets a cell")
    output = ROOT / "docs" / "benchmarks" / "coverage.md"
    parser.add_argument("--output", type=Path, default=output)
    arguments = parser.parse_args(given)
    sets: int = arguments.sets
    intervals = list(coverage_cells(sets))
    of_questions = list(question_cells(sets))
    resampled = list(bootstrap_cells(sets))
    tests = list(null_cells(sets))
    compared = list(comparison_cells(sets))
    labels = list(label_cells(sets))
    pairs = list(pair_cells(sets))
    kinds = [
        "1 answer" if spread is None else f"{answers} answers, c = {spread:g}"
        for answers, spread in ANSWERS
    ]
    text = MARKDOWN.format(
        sets=sets,
        few=FEW,
        coverage=cells_table(["data", *kinds], intervals, sets),
        wrong=WRONG,
        questions=cells_table(
            ["data", *(metric.name for metric in METRICS)], of_questions, sets
        ),
        resampled=bootstrap_coverage.MARKDOWN.format(
            few=FEW_QUESTIONS,
            coverage=cells_table(
                ["data", *bootstrap_coverage.POPULATIONS], resampled, sets
            ),
        ),
        tests=cells_table(["scores", *TESTS], tests, sets),
        comparisons=comparison_coverage.MARKDOWN.format(
            family=comparison_coverage.FAMILY,
            right=comparison_coverage.RIGHT,
            rare=comparison_coverage.RARE,
            comparisons=cells_table(["promise", "share"], compared, sets),
        ),
        labels=label_coverage.MARKDOWN.format(
            right=label_coverage.RIGHT,
            few=FEW_LABELS,
            coverage=cells_table(["data", *label_coverage.METRICS], labels, sets),
        ),
        pairs=pair_coverage.MARKDOWN.format(
            better=pair_coverage.BETTER,
            preference=pair_coverage.PREFERENCE,
            few=FEW,
            coverage=cells_table(["data", *pair_coverage.HEADS], pairs, sets),
        ),
    )
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    rows = (*intervals, *of_questions, *resampled, *tests, *compared, *labels, *pairs)
    return int(not all(cell.is_met(sets) for row in rows for cell in row))


if __name__ == "__main__":
    sys.exit(main())
