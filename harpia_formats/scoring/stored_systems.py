"""The scores of compared systems: the means of what their answers hold already."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from harpia_formats.model.metric_profile import MetricRequest
from harpia_formats.scoring.accumulate import GroupTotals
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.match_questions import MatchedQuestions
from harpia_formats.scoring.measure import BATCH
from harpia_formats.scoring.metric_score import Group
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.paired_answers import QuestionSums
from harpia_formats.scoring.question_rows import SpooledRows
from harpia_formats.scoring.question_store import QuestionStore
from harpia_formats.scoring.questions import WIDTH
from harpia_formats.scoring.resampled import (
    NO_SUCH_SCORE,
    GroupAnswer,
    Outcome,
    ResampledMetrics,
)
from harpia_formats.scoring.stored_metrics import BINARY, stored_measure
from harpia_formats.scoring.stored_scores import StoredValues

#: Why a question that a system has is without a score of it.
_MISSING = "it has no stored score"


@dataclass(frozen=True, slots=True)
class StoredQuantity:
    """Scores of one metric that are compared."""

    name: str
    #: The name in the comparison.
    label: str
    #: The signature of the scores, None for those with any.
    signature: str | None
    #: Whether all of them are true or false.
    are_booleans: bool

    def values_of(self, system: StoredValues) -> dict[int, list[float]]:
        """Return the values of each question of a system, by its number."""
        found: dict[int, list[float]] = {}
        for own, by_question in system[self.name].items():
            if self.signature in (None, own):
                for question, mine in by_question.items():
                    found.setdefault(question, []).extend(mine)
        return found

    def signature_of(self, *systems: StoredValues) -> str:
        """Return the signature of the scores of some systems, or all that there are."""
        if self.signature is not None:
            return self.signature
        every = dict.fromkeys(chain(*(system[self.name] for system in systems)))
        return " and ".join(filter(None, every))


def stored_groups(
    quantities: Sequence[StoredQuantity],
    systems: Sequence[tuple[StoredValues, Sequence[int]]],
    keys: bytes,
    options: ScoreOptions,
) -> Iterator[Group]:
    """Yield the scores of each system, as `score` shows those that are stored.

    A system is its values and the numbers of its questions; `keys` has the digest of
    each question, one behind the other. A scale is that of all systems together.
    """
    are_binary = [
        all(
            value in BINARY
            for system, _ in systems
            for value in chain(*quantity.values_of(system).values())
        )
        for quantity in quantities
    ]
    for system, questions in systems:
        metrics = tuple(
            ComputedMetric(
                MetricRequest(one.label),
                stored_measure(
                    one.label,
                    (one.name, one.signature_of(system)),
                    are_binary=is_binary,
                    are_booleans=one.are_booleans,
                ),
            )
            for one, is_binary in zip(quantities, are_binary, strict=True)
        )
        values = [one.values_of(system) for one in quantities]
        yield _group(metrics, _answers(values, questions, keys), options)


def question_sums(
    values: Mapping[int, Sequence[float]],
    numbers: Sequence[int],
    matched: MatchedQuestions,
) -> QuestionSums:
    """Return the sums of values by question, as the statistics of a mean.

    `numbers` are those of all questions of the system.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    by_place: dict[int, list[float]] = {}
    for question, mine in values.items():
        by_place.setdefault(int(matched.places[question]), []).extend(mine)
    rows = np.zeros((len(matched.keys), 2))
    counts = np.zeros(len(matched.keys), dtype=np.int64)
    for place, mine in by_place.items():
        rows[place] = math.fsum(mine), len(mine)
        counts[place] = len(mine)
    answered = np.zeros(len(matched.keys), dtype=bool)
    answered[[matched.places[number] for number in numbers]] = True
    return QuestionSums(SpooledRows(rows), counts, answered & (counts == 0), answered)


def _group(
    metrics: tuple[ComputedMetric, ...],
    answers: Iterator[GroupAnswer],
    options: ScoreOptions,
) -> Group:
    bootstrap = PoissonBootstrap(options.replicates, options.seed)
    totals = GroupTotals({}, metrics, ResampledMetrics(metrics, bootstrap))
    with closing(QuestionStore([1] * len(metrics))) as store:
        while part := list(islice(answers, BATCH)):
            totals.add(part)
            store.add_answers(part, 0)
        return totals.group(options.level, store.moments([{0}])[0], {})


def _answers(
    values: Sequence[Mapping[int, Sequence[float]]],
    questions: Sequence[int],
    keys: bytes,
) -> Iterator[GroupAnswer]:
    """Yield the scores of each question, of every quantity one after the other."""
    for number in questions:
        key = keys[number * WIDTH : (number + 1) * WIDTH]
        columns = [
            list(map(_outcome, mine.get(number, ()))) or [_MISSING] for mine in values
        ]
        for outcomes in zip_longest(*columns, fillvalue=NO_SUCH_SCORE):
            yield GroupAnswer(number, key, outcomes)


def _outcome(value: float) -> Outcome:
    return (value, 1.0), (value,)
