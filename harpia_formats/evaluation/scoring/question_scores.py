"""The scores of questions from the statistics of their answers, in bounded memory."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from operator import attrgetter

from harpia_formats.evaluation.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.evaluation.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.evaluation.scoring.metric_score import (
    LeftOutQuestions,
    RunningDistribution,
)
from harpia_formats.evaluation.scoring.number_stores import (
    ENTRIES_HELD,
    PARTS,
    PartedEntries,
)
from harpia_formats.evaluation.scoring.outcomes import (
    ComputedMetric,
    GroupAnswer,
    Outcome,
    label_pair,
    numbers_of,
    statistics_width,
)

#: The answers to one question: how many have the same statistics.
Answers = Counter[Statistics]
#: The answers to each of some questions, by their digests.
Questions = dict[bytes, Answers]


class AnswerStatistics:
    """The statistics of answers by one metric; to be closed with `close`."""

    def __init__(
        self,
        at: int,
        width: int,
        numbers_of: Callable[[Outcome], Statistics | None],
        held: int = ENTRIES_HELD,
    ) -> None:
        """Hold the statistics of the metric at a place, which are `width` numbers.

        `numbers_of` returns those of an outcome, None for one that has none.
        """
        self._at, self._numbers_of = at, numbers_of
        #: The group, the number of answers with the same statistics, and these.
        self._entries = PartedEntries(f"II{width}d", held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        counts: Counter[tuple[bytes, Statistics]] = Counter()
        for answer in answers:
            numbers = self._numbers_of(answer.outcomes[self._at])
            if numbers is not None:
                counts[answer.question, numbers] += 1
        for (question, statistics), count in counts.items():
            self._entries.add(question, group, count, *statistics)

    def parts(self) -> Iterator[Mapping[int, Questions]]:
        """Yield the questions in `PARTS` parts by their digests, by group.

        Raises `SourceError` if the temporary file cannot be read.
        """
        for part in range(PARTS):
            by_group: dict[int, Questions] = {}
            for key, group, count, *statistics in self._entries.of_part(part):
                questions = by_group.setdefault(group, {})
                questions.setdefault(key, Counter())[tuple(statistics)] += count
            yield by_group

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def questions_of(
    by_group: Mapping[int, Questions], groups: Collection[int]
) -> Questions:
    """Return the questions of some groups, each with its answers in any of them."""
    mine = [by_group[group] for group in groups if group in by_group]
    if len(mine) == 1:
        return mine[0]
    found: Questions = {}
    for questions in mine:
        for key, answers in questions.items():
            found.setdefault(key, Counter()).update(answers)
    return found


#: The answers to one question: how many have the same statistics.
CountedAnswers = Mapping[Statistics, int]


@dataclass(slots=True)
class QuestionTotals:
    """One score of the questions of a group."""

    moments: QuestionMoments = field(default_factory=QuestionMoments)
    distribution: RunningDistribution = field(default_factory=RunningDistribution)
    #: The answers to questions with a score, and to those without.
    answers: int = 0
    left_out_answers: int = 0
    left_out: LeftOutQuestions = field(default_factory=LeftOutQuestions)

    @property
    def value(self) -> float | None:
        """The mean over questions, None without any."""
        return self.distribution.distribution().mean

    def add(self, values: Sequence[float], answers: Sequence[int]) -> None:
        """Add questions: the score of each, and the number of its answers."""
        self.answers += sum(answers)
        self.distribution.add(values)
        both = zip(values, answers, strict=True)
        totals = [round(value * QUANTA) * count for value, count in both]
        self.moments.add(answers, totals)

    def leave_out(self, answers: Sequence[int], least: int) -> None:
        """Count questions with so few answers that they have no score."""
        self.left_out_answers += sum(answers)
        self.left_out = self.left_out.with_more(answers, least)


def question_scores(
    measure: QuestionMeasure, answers: CountedAnswers
) -> tuple[float | None, ...]:
    """Return the scores of a question, None for each that needs more answers."""
    count = sum(answers.values())
    if count < min(measure.least):
        return (None,) * len(measure.least)
    return tuple(
        score if least <= count else None
        for score, least in zip(measure.scores(answers), measure.least, strict=True)
    )


class RepeatedAnswerStore:
    """The statistics of the answers to questions, by group; to be closed with `close`.

    Only metrics that score questions have any.
    """

    def __init__(
        self, metrics: Sequence[ComputedMetric], held: int = ENTRIES_HELD
    ) -> None:
        #: The measure of each metric by its place, with the statistics of answers.
        self._measures: dict[int, tuple[QuestionMeasure, AnswerStatistics]] = {}
        for at, metric in enumerate(metrics):
            if metric.measure.question is not None:
                width = statistics_width(metric.measure)
                store = AnswerStatistics(at, width, numbers_of, held)
                self._measures[at] = metric.measure.question, store

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for _, store in self._measures.values():
            store.add_answers(answers, group)

    def totals(
        self, wholes: Sequence[Collection[int]]
    ) -> list[dict[int, list[QuestionTotals]]]:
        """Return the scores of questions for each of some wholes, by place of metric.

        A whole is one group or several. Raises `SourceError` if the temporary file
        fails, and `MetricError` if a question cannot be scored.
        """
        found: list[dict[int, list[QuestionTotals]]] = [{} for _ in wholes]
        for at, (measure, store) in self._measures.items():
            for totals in found:
                totals[at] = [QuestionTotals() for _ in measure.least]
            for by_group in store.parts():
                for totals, groups in zip(found, wholes, strict=True):
                    _add_questions(totals[at], measure, questions_of(by_group, groups))
        return found

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for _, store in self._measures.values():
            store.close()


def _add_questions(
    totals: Sequence[QuestionTotals],
    measure: QuestionMeasure,
    questions: Questions,
) -> None:
    """Add the scores of questions to the totals of each score."""
    found = [
        (answers.total(), question_scores(measure, answers))
        for answers in questions.values()
    ]
    for at, (total, least) in enumerate(zip(totals, measure.least, strict=True)):
        mine = [(count, scores[at]) for count, scores in found]
        scored = [(count, score) for count, score in mine if score is not None]
        total.add([score for _, score in scored], [count for count, _ in scored])
        total.leave_out([count for count, score in mine if score is None], least)


#: The answers and the totals of one question, for each score.
_Row = tuple[list[int], list[int]]


class QuestionStore:
    """The scores of questions, by group; to be closed with `close`."""

    def __init__(self, names: Sequence[int], held: int = ENTRIES_HELD) -> None:
        #: The number of scores of each metric, and of all.
        self._names = tuple(names)
        self._scores = scores = sum(names)
        #: The group, and for each score the answers and their sum.
        self._entries = PartedEntries(f"I{scores}I{scores}d", held)

    def add(
        self, key: bytes, group: int, answers: Sequence[int], sums: Sequence[float]
    ) -> None:
        """Add answers to a question: for each score their number and their sum.

        Raises `SourceError` if the temporary file cannot be written.
        """
        self._entries.add(key, group, *answers, *sums)

    def add_answers(self, answers: Iterable[GroupAnswer], group: int) -> None:
        """Add answers to their questions, those of one record as one entry.

        Raises `SourceError` if the temporary file cannot be written.
        """
        if not self._scores:
            return
        for _, part in groupby(answers, key=attrgetter("record_number")):
            mine = list(part)
            rows = [list(self._values(answer.outcomes)) for answer in mine]
            columns = list(zip(*rows, strict=True))
            self.add(
                mine[0].question,
                group,
                [len(column) - column.count(None) for column in columns],
                [fsum(filter(None, column)) for column in columns],
            )

    def _values(self, outcomes: Iterable[Outcome]) -> Iterator[float | None]:
        """Yield the scores of an answer, None for each that it does not have.

        An answer with labels has no score of its own, and is counted with 0.
        """
        for outcome, names in zip(outcomes, self._names, strict=True):
            if isinstance(outcome, str):
                yield from (None,) * names
            elif label_pair(outcome) is None:
                yield from outcome[1][:names]
            else:
                yield from (0.0,) * names

    def moments(self, wholes: Sequence[Collection[int]]) -> list[list[QuestionMoments]]:
        """Return the sums over questions for each score, for each of some wholes.

        A whole is one group or several. A question counts for a score if it has an
        answer with that score. Raises `SourceError` if the temporary file fails.
        """
        found = [self._empty() for _ in wholes]
        for part in range(PARTS):
            by_group: dict[int, dict[bytes, _Row]] = {}
            for key, group, *numbers in self._entries.of_part(part):
                _add_to(by_group.setdefault(group, {}), key, self._row(numbers))
            for moments, groups in zip(found, wholes, strict=True):
                mine = [by_group[group] for group in groups if group in by_group]
                if mine:
                    _add_moments(moments, _together(mine))
        return found

    def _empty(self) -> list[QuestionMoments]:
        return [QuestionMoments() for _ in range(self._scores)]

    def _row(self, numbers: Sequence[float]) -> _Row:
        answers = [int(number) for number in numbers[: self._scores]]
        return answers, [round(total * QUANTA) for total in numbers[self._scores :]]

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def _add_to(questions: dict[bytes, _Row], key: bytes, row: _Row) -> None:
    """Add the answers and totals of one entry to those of its question."""
    old = questions.get(key)
    if old is None:
        questions[key] = row
        return
    for mine, more in zip(old, row, strict=True):
        mine[:] = map(int.__add__, mine, more)


def _together(groups: Sequence[dict[bytes, _Row]]) -> dict[bytes, _Row]:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, _Row] = {}
    for questions in groups:
        for key, (answers, totals) in questions.items():
            _add_to(found, key, (list(answers), list(totals)))
    return found


def _add_moments(moments: list[QuestionMoments], questions: dict[bytes, _Row]) -> None:
    """Add questions to the sums of each score for which they have an answer."""
    rows = questions.values()
    for at, score in enumerate(moments):
        scored = [(row[0][at], row[1][at]) for row in rows if row[0][at]]
        score.add([count for count, _ in scored], [total for _, total in scored])
