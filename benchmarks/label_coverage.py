"""The coverage of intervals of scores of labels, on data sets whose truth is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics import measure_of
from harpia_formats.evaluation.metrics.label_counts import (
    LabelCounts,
    LabelPair,
    LabelScores,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    FEW,
    LabelBootstrap,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
    limits_of,
)

MARKDOWN = """\
## Intervals of labels

The share of data sets whose interval holds the true score. An answer
is right with a chance of {right:g}, and a wrong one has any other label. With ten
answers, the chance differs between questions: it is drawn from a beta distribution. A
row says how many questions there are, how many labels, and the share of the rarest
label of references.

{coverage}

Where at least {few} references with each label are expected, a coverage of 0.92 to 0.98
is required. With fewer, an average over labels hangs on the few references with the
rarest one, or on none: its interval may hold the truth in half of all data sets, and
the table of scores marks it as approximate.
"""
#: The metrics whose intervals are measured.
METRICS = ("f1-macro", "mcc", "kappa")
#: The shares of labels among references.
SHARES: tuple[Sequence[float], ...] = (
    (0.5, 0.5),
    (0.9, 0.1),
    (0.5, 0.3, 0.2),
    (0.4, 0.3, 0.15, 0.1, 0.05),
)
QUESTIONS, ANSWERS = (30, 100, 500), (1, 10)
#: The chance of a right answer, and how alike it is for all questions.
RIGHT, ALIKE = 0.8, 4


@dataclass(frozen=True, slots=True)
class Population:
    """References and answers of which data sets are drawn."""

    #: The share of each label among references.
    shares: Sequence[float]
    #: The number of answers to a question.
    answers: int

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return [f"label {number}" for number in range(len(self.shares))]

    def scores(self, metrics: Sequence[LabelScores]) -> list[float]:
        """Return the true scores."""
        wrong = (1 - RIGHT) / (len(self.shares) - 1)
        right = [share * RIGHT for share in self.shares]
        answers = [share * RIGHT + (1 - share) * wrong for share in self.shares]
        counts = LabelCounts(self.labels, right, self.shares, answers, 0.0)
        found = [metric.scores(counts)[0] for metric in metrics]
        return [score for score in found if score is not None]

    def draw(self, chance: Any, questions: int) -> list[tuple[int, LabelPair]]:
        """Return the question and the labels of each answer of a data set."""
        names, size = self.labels, len(self.shares)
        references = chance.choice(size, questions, p=self.shares)
        shares = [RIGHT] * questions
        if self.answers > 1:
            shares = chance.beta(ALIKE * RIGHT, ALIKE * (1 - RIGHT), questions)
        found = []
        for number, (at, share) in enumerate(zip(references, shares, strict=True)):
            is_wrong = chance.random(self.answers) >= share
            moved = chance.integers(1, size, self.answers) * is_wrong
            found += [
                (number, LabelPair(names[at], names[other]))
                for other in ((at + moved) % size).tolist()
            ]
        return found


def label_coverage(
    population: Population, questions: int, sets: int, chance: Any
) -> list[float]:
    """Return for each metric the share of data sets whose interval holds its score."""
    measures = [measure_of(name, {}).labels for name in METRICS]
    metrics = [labels for labels in measures if labels is not None]
    truth = population.scores(metrics)
    keys = [digest_of(f"{number}") for number in range(questions)]
    held = [0] * len(metrics)
    for seed in range(sets):
        bootstrap = LabelBootstrap(metrics[0].reading, REPLICATES, SEED + seed)
        numbers, pairs = zip(*population.draw(chance, questions), strict=True)
        bootstrap.add([keys[at] for at in numbers], [(pair, 1) for pair in pairs])
        columns = zip(*bootstrap.replicated(metrics), strict=True)
        for at, column in enumerate(columns):
            values = [score for (score,) in column if score is not None]
            low, high = limits_of(values, LEVEL) or (1.0, 0.0)
            held[at] += low <= truth[at] <= high
    return [count / sets for count in held]


def label_rows(
    sets: int, generator: Any, sizes: Sequence[int] = QUESTIONS
) -> Iterator[tuple[str, list[float], tuple[float, float]]]:
    """Yield the data, the coverage of each metric, and its bounds.

    `generator` returns a generator of random numbers for some words.
    """
    for shares in SHARES:
        for questions in sizes:
            for answers in ANSWERS:
                chance = generator("labels", *shares, questions, answers)
                found = label_coverage(
                    Population(shares, answers), questions, sets, chance
                )
                is_usual = questions * min(shares) >= FEW - 1e-9
                bounds = (0.92, 0.98) if is_usual else (0.5, 1.0)
                many = "1 answer" if answers == 1 else f"{answers} answers"
                name = f"{questions}, {len(shares)} labels, {min(shares):g}, {many}"
                yield name, found, bounds
