"""Numbers of answers by question, in bounded memory, and sums over questions.

All questions count the same: in a sum of statistics, such as that of a pooled metric,
each answer is weighted by 1 / answers of its question. Where all questions have equally
many answers, each answer counts once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from math import fsum, lcm
from operator import attrgetter

from harpia_formats.evaluation.metrics.label_counts import LabelPair, LabelScores
from harpia_formats.evaluation.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.evaluation.scoring.measures.label_totals import (
    LabelBootstrap,
    PairCounts,
    label_values,
)
from harpia_formats.evaluation.scoring.measures.metric_score import (
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.measures.outcomes import GroupAnswer, label_pair
from harpia_formats.evaluation.scoring.number_stores import (
    ENTRIES_HELD,
    PARTS,
    PartedEntries,
)
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    PoissonBootstrap,
    Resampled,
    Scores,
    Values,
    resampled,
)
from harpia_formats.evaluation.scoring.significance.intervals import (
    QUANTA,
    ExactSum,
    QuestionMoments,
)

#: The answers to one question: how many have the same row.
Answers = Counter[Statistics]
#: The answers to each of some questions, by their digests.
Questions = Mapping[bytes, Answers]
#: Returns the rows of some answers, each with the digest of its question.
RowsOf = Callable[[Sequence[GroupAnswer]], Iterable[tuple[bytes, Statistics]]]
#: Rows that are read together at least, so that they are resampled together.
_TOGETHER = 512
#: The most units of which the weights of answers with labels are multiples.
_UNITS = 2**24


class RowStore:
    """Rows of numbers of answers, by question and group; to be closed with `close`."""

    def __init__(self, numbers: str, rows_of: RowsOf, held: int = ENTRIES_HELD) -> None:
        """Hold rows whose `numbers` have this format of `struct`."""
        self._rows_of = rows_of
        #: The group, the number of answers with the same row, and the row.
        self._entries = PartedEntries(f"II{numbers}", held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for (question, row), count in Counter(self._rows_of(answers)).items():
            self._entries.add(question, group, count, *row)

    def read(
        self,
        wholes: Sequence[Collection[int]],
        receivers: Sequence[Callable[[Questions], None]],
    ) -> None:
        """Give the questions of each whole to its receiver, some at a time.

        A whole is one group or several. Raises `SourceError` if the temporary file
        cannot be read.
        """
        for by_group in self._by_group():
            for receive, groups in zip(receivers, wholes, strict=True):
                found = [by_group[one] for one in groups if one in by_group]
                if found:
                    receive(_together(found))

    def _by_group(self) -> Iterator[dict[int, defaultdict[bytes, Answers]]]:
        """Yield all questions by their groups, those of some parts at a time."""
        found: dict[int, defaultdict[bytes, Answers]] = {}
        rows = 0
        for part in range(PARTS):
            for key, group, count, *row in self._entries.of_part(part):
                questions = found.get(group)
                if questions is None:
                    questions = found[group] = defaultdict(Counter)
                questions[key][tuple(row)] += count
                rows += 1
            if rows >= _TOGETHER or part == PARTS - 1:
                yield found
                found, rows = {}, 0

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def _together(groups: Sequence[Questions]) -> Questions:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, Answers] = defaultdict(Counter)
    for questions in groups:
        for key, answers in questions.items():
            found[key].update(answers)
    return found


# --- Scores of answers, added up by question ---


def record_rows(
    names: Sequence[int], answers: Sequence[GroupAnswer]
) -> Iterator[tuple[bytes, Statistics]]:
    """Yield the sums of the scores of the answers of each record, with its question.

    A row has for each score how many answers have it, and then for each its sum.
    `names` are the number of scores of each metric, 0 for one that does not count here.
    """
    if not any(names):
        return
    for _, part in groupby(answers, key=attrgetter("record_number")):
        mine = list(part)
        columns = list(zip(*(_values(answer, names) for answer in mine), strict=True))
        counts = [len(column) - column.count(None) for column in columns]
        sums = [fsum(filter(None, column)) for column in columns]
        yield mine[0].question, (*counts, *sums)


def _values(answer: GroupAnswer, names: Sequence[int]) -> Iterator[float | None]:
    """Yield the scores of an answer, None for each that it does not have.

    An answer with labels has no score of its own, and is counted with 0.
    """
    for outcome, count in zip(answer.outcomes, names, strict=True):
        if isinstance(outcome, str):
            yield from (None,) * count
        elif label_pair(outcome) is None:
            yield from outcome[1][:count]
        else:
            yield from (0.0,) * count


def add_moments(moments: Sequence[QuestionMoments], questions: Questions) -> None:
    """Add questions to the sums of each score for which they have an answer.

    Their rows are `record_rows`.
    """
    size = len(moments)
    rows = [_sums_of(answers, size) for answers in questions.values()]
    for at, score in enumerate(moments):
        scored = [(row[at], row[size + at]) for row in rows if row[at]]
        score.add([count for count, _ in scored], [total for _, total in scored])


def _sums_of(answers: Answers, size: int) -> Sequence[int]:
    """Return the sums of the rows of a question, the scores in multiples of 1/QUANTA.

    Integers are added, so that their order changes nothing.
    """
    rows = [
        [*map(int, row[:size]), *[round(total * QUANTA) for total in row[size:]]]
        for row in answers.elements()
    ]
    return rows[0] if len(rows) == 1 else [*map(sum, zip(*rows, strict=True))]


# --- Scores of questions ---


@dataclass(slots=True)
class QuestionTotals:
    """One score of the questions of a group."""

    moments: QuestionMoments = field(default_factory=QuestionMoments)
    distribution: RunningDistribution = field(default_factory=RunningDistribution)
    #: How many questions without a score have each number of answers.
    left_out: Counter[int] = field(default_factory=Counter)

    def add(self, values: Sequence[float], answers: Sequence[int]) -> None:
        """Add questions: the score of each, and the number of its answers."""
        self.distribution.add(values)
        both = zip(values, answers, strict=True)
        totals = [round(value * QUANTA) * count for value, count in both]
        self.moments.add(answers, totals)


def add_questions(
    totals: Sequence[QuestionTotals], measure: QuestionMeasure, questions: Questions
) -> None:
    """Add the scores of questions to the totals of each score.

    Raises `MetricError` if a question cannot be scored.
    """
    found = [
        (answers.total(), question_scores(measure, answers))
        for answers in questions.values()
    ]
    for at, total in enumerate(totals):
        mine = [(count, scores[at]) for count, scores in found]
        scored = [(count, score) for count, score in mine if score is not None]
        total.add([score for _, score in scored], [count for count, _ in scored])
        total.left_out.update(count for count, score in mine if score is None)


def question_scores(
    measure: QuestionMeasure, answers: Answers
) -> tuple[float | None, ...]:
    """Return the scores of a question, None for each that needs more answers."""
    count = answers.total()
    if count < min(measure.least):
        return (None,) * len(measure.least)
    return tuple(
        score if least <= count else None
        for score, least in zip(measure.scores(answers), measure.least, strict=True)
    )


# --- Scores of summed statistics ---


@dataclass(frozen=True, slots=True)
class PooledScores:
    """The scores of one metric by which all questions count the same."""

    #: The intervals of the scores, none without replicates.
    intervals: Sequence[Resampled] = ()
    #: The scores, None if each answer counts once.
    values: Values | None = None
    #: The sums of the weights of answers by pair of labels, if these are unequal.
    weights: PairCounts | None = None


def with_rows(sums: list[ExactSum], rows: Sequence[Statistics]) -> list[ExactSum]:
    """Return sums to which rows are added, place by place; they may be none so far."""
    found = sums or [ExactSum() for _ in rows[0]]
    for total, column in zip(found, zip(*rows, strict=True), strict=True):
        total.add(column)
    return found


@dataclass(slots=True)
class PooledRows:
    """The sums of the statistics of one metric over some questions, with replicates.

    It is for pooled metrics, and for means without bounds, which have no interval by a
    formula.
    """

    scores: Scores
    #: Whether all questions have equally many answers.
    is_even: bool
    bootstrap: PoissonBootstrap
    _sums: list[ExactSum] = field(default_factory=list)

    def add(self, questions: Questions) -> None:
        """Add questions: a row for each answer, or the mean of those of a question."""
        keys: list[bytes] = []
        rows: list[Statistics] = []
        for key, answers in questions.items():
            rows += answers.elements() if self.is_even else [_mean(answers)]
            keys += [key] * (len(rows) - len(keys))
        if not self.is_even:
            self._sums = with_rows(self._sums, rows)
        self.bootstrap.add(keys, rows)

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of the only metric."""
        values = None
        if self._sums:
            values = self.scores([total.value for total in self._sums])
        replicates = self.bootstrap.replicated(self.scores)
        return [PooledScores(resampled(replicates, level), values)]


def _mean(answers: Answers) -> Statistics:
    """Return the mean of the statistics of the answers to a question."""
    count = answers.total()
    if count == 1:
        (only,) = answers
        return only
    columns = zip(*answers.elements(), strict=True)
    return tuple(fsum(column) / count for column in columns)


@dataclass(slots=True)
class PooledLabels:
    """The weights of the answers with each pair of labels, and their replicates."""

    #: The metrics, which read the same labels.
    metrics: Sequence[LabelScores]
    #: The labels by their numbers.
    names: Sequence[str]
    moments: QuestionMoments
    bootstrap: LabelBootstrap
    #: Empty if all questions have equally many answers, so that each counts once.
    _weights: dict[LabelPair, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )

    def add(self, questions: Questions) -> None:
        """Add the answers to some questions."""
        is_even, units = self.moments.is_even, min(lcm(*self.moments.sums), _UNITS)
        keys: list[bytes] = []
        rows: list[tuple[LabelPair, int]] = []
        for key, answers in questions.items():
            total = answers.total()
            unit = 1 if is_even else max(round(units / total), 1)
            for numbers, count in answers.items():
                pair = LabelPair(*(self.names[int(number)] for number in numbers))
                if not is_even:
                    self._weights[pair] += Fraction(count, total)
                keys.append(key)
                rows.append((pair, unit * count))
        self.bootstrap.add(keys, rows)

    def found(self, level: float) -> list[PooledScores]:
        """Return the scores of each metric."""
        replicates = list(self.bootstrap.replicated(self.metrics))
        weights = self._weights or None
        return [
            PooledScores(
                resampled((row[at] for row in replicates), level),
                None if weights is None else label_values(metric, weights),
                weights,
            )
            for at, metric in enumerate(self.metrics)
        ]
