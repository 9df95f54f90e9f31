"""The scores of compared systems: the means of what their answers hold already."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter
from typing import Any

from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.evaluation.scoring.accumulate import GroupTotals
from harpia_formats.evaluation.scoring.answer_store import AnswerStore
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.match_questions import MatchedQuestions
from harpia_formats.evaluation.scoring.measure import BATCH
from harpia_formats.evaluation.scoring.metric_score import Group
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import (
    NO_SUCH_SCORE,
    GroupAnswer,
    Outcome,
)
from harpia_formats.evaluation.scoring.paired_answers import QuestionSums
from harpia_formats.evaluation.scoring.question_rows import SpooledRows, parts_of
from harpia_formats.evaluation.scoring.stored_metrics import BINARY, stored_measure
from harpia_formats.evaluation.scoring.stored_scores import StoredValues
from harpia_formats.evaluation.scoring.system_answers import (
    answers_by_question,
    small_sums,
)
from harpia_formats.model.metric_profile import MetricRequest

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

    def values_of(self, system: StoredValues) -> Any:
        """Return the scores of a system as an array, in the order of the questions.

        A row has the number of the question and the value.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        rows = np.concatenate(
            [
                np.frombuffer(numbers.read()).reshape(-1, 2)
                for own, numbers in system[self.name].items()
                if self.signature in (None, own)
            ]
        )
        return rows[np.argsort(rows[:, 0], kind="stable")]

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
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    are_binary = [
        all(
            np.isin(quantity.values_of(system)[:, 1], BINARY).all()
            for system, _ in systems
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
    rows: Any, numbers: Sequence[int], matched: MatchedQuestions
) -> QuestionSums:
    """Return the sums of scores by question, as the statistics of a mean.

    `rows` are those of `values_of`, and `numbers` those of all questions of the system.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    count = len(matched.keys)
    places = matched.places[rows[:, 0].astype(np.int64)]
    counts = np.bincount(places, minlength=count)
    found = np.zeros((count, 2))
    found[:, 1] = counts
    is_single = counts[places] == 1
    found[places[is_single], 0] = rows[is_single, 1]
    for place, several in answers_by_question(places, rows[:, 1], ~is_single):
        found[place, 0] = math.fsum(several)
    answered = np.zeros(count, dtype=bool)
    answered[matched.places[np.asarray(numbers)]] = True
    unscored = answered & (counts == 0)
    return small_sums(SpooledRows(found), counts, unscored, answered)


def _group(
    metrics: tuple[ComputedMetric, ...],
    answers: Iterator[GroupAnswer],
    options: ScoreOptions,
) -> Group:
    totals = GroupTotals({}, metrics)
    with closing(AnswerStore(metrics, options)) as store:
        while part := list(islice(answers, BATCH)):
            totals.add(part)
            store.add_answers(part, 0)
        return totals.group(store.wholes([{0}])[0], options)


def _answers(
    values: Sequence[Any], questions: Sequence[int], keys: bytes
) -> Iterator[GroupAnswer]:
    """Yield the scores of each question, of every quantity one after the other.

    `questions` are in ascending order, as the rows of each quantity are.
    """
    rest = [_by_question(rows) for rows in values]
    found = [next(mine, None) for mine in rest]
    for number in questions:
        key = keys[number * WIDTH : (number + 1) * WIDTH]
        columns: list[list[Outcome]] = []
        for at, head in enumerate(found):
            if head is None or head[0] != number:
                columns.append([_MISSING])
                continue
            columns.append(head[1])
            found[at] = next(rest[at], None)
        for outcomes in zip_longest(*columns, fillvalue=NO_SUCH_SCORE):
            yield GroupAnswer(number, key, outcomes)


def _by_question(rows: Any) -> Iterator[tuple[float, list[Outcome]]]:
    """Yield the number of each question with its scores."""
    pairs = chain.from_iterable(rows[part].tolist() for part in parts_of(len(rows)))
    for number, mine in groupby(pairs, key=itemgetter(0)):
        yield number, [_outcome(value) for _, value in mine]


def _outcome(value: float) -> Outcome:
    return (value, 1.0), (value,)
