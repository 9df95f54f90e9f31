"""The scores of questions, by metrics that score a question by all answers to it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harpia_formats.evaluation.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.evaluation.scoring.answer_statistics import (
    AnswerStatistics,
    Questions,
    questions_of,
)
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.distribution import RunningDistribution
from harpia_formats.evaluation.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.evaluation.scoring.left_out import LeftOutQuestions
from harpia_formats.evaluation.scoring.outcomes import (
    GroupAnswer,
    numbers_of,
    statistics_width,
)
from harpia_formats.evaluation.scoring.parted_entries import HELD

#: The answers to one question: how many have the same statistics.
Answers = Mapping[Statistics, int]


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
    measure: QuestionMeasure, answers: Answers
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

    def __init__(self, metrics: Sequence[ComputedMetric], held: int = HELD) -> None:
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
