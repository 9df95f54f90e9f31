"""The scores of questions, by metrics that score a question by all answers to it.

Answers to one question may be anywhere in the data. So their statistics are kept as
entries of fixed size, and the answers of each question are counted at the end: their
order does not change the result, and memory does not grow with their number.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harpia_formats.metrics.metric import QuestionMeasure, Statistics
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.distribution import RunningDistribution
from harpia_formats.scoring.intervals import QUANTA, QuestionMoments
from harpia_formats.scoring.left_out import LeftOutQuestions
from harpia_formats.scoring.parted_entries import HELD, PARTS, PartedEntries
from harpia_formats.scoring.resampled import GroupAnswer, numbers_of, statistics_width

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
        whole = [round(value * QUANTA) for value in values]
        self.moments.add([1] * len(values), whole)
        self.moments.independent += sum(answers)

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
        self._measures: dict[int, QuestionMeasure] = {}
        #: For each metric by its place: the group, the number of answers with the same
        #: statistics, and these.
        self._entries: dict[int, PartedEntries] = {}
        for at, metric in enumerate(metrics):
            if metric.measure.question is not None:
                self._measures[at] = metric.measure.question
                numbers = f"II{statistics_width(metric.measure)}d"
                self._entries[at] = PartedEntries(numbers, held)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if the temporary file cannot be written.
        """
        for at, entries in self._entries.items():
            counts: Counter[tuple[bytes, Statistics]] = Counter()
            for answer in answers:
                numbers = numbers_of(answer.outcomes[at])
                if numbers is not None:
                    counts[answer.question, numbers] += 1
            for (question, statistics), count in counts.items():
                entries.add(question, group, count, *statistics)

    def totals(
        self, wholes: Sequence[Collection[int]]
    ) -> list[dict[int, list[QuestionTotals]]]:
        """Return the scores of questions for each of some wholes, by place of metric.

        A whole is one group or several. Raises `SourceError` if the temporary file
        fails, and `MetricError` if a question cannot be scored.
        """
        found: list[dict[int, list[QuestionTotals]]] = [{} for _ in wholes]
        for at, measure in self._measures.items():
            for totals in found:
                totals[at] = [QuestionTotals() for _ in measure.least]
            for by_group in self._parts(at):
                for totals, groups in zip(found, wholes, strict=True):
                    mine = [by_group[group] for group in groups if group in by_group]
                    _add_questions(totals[at], measure, _together(mine))
        return found

    def _parts(self, at: int) -> Iterator[dict[int, dict[bytes, Counter[Statistics]]]]:
        """Yield for each part of the questions their answers by group."""
        for part in range(PARTS):
            by_group: dict[int, dict[bytes, Counter[Statistics]]] = {}
            for key, group, count, *statistics in self._entries[at].of_part(part):
                questions = by_group.setdefault(group, {})
                questions.setdefault(key, Counter())[tuple(statistics)] += count
            yield by_group

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for entries in self._entries.values():
            entries.close()


def _together(
    groups: Sequence[dict[bytes, Counter[Statistics]]],
) -> dict[bytes, Counter[Statistics]]:
    """Return the questions of all groups, each with its answers in any of them."""
    if len(groups) == 1:
        return groups[0]
    found: dict[bytes, Counter[Statistics]] = {}
    for questions in groups:
        for key, answers in questions.items():
            found.setdefault(key, Counter()).update(answers)
    return found


def _add_questions(
    totals: Sequence[QuestionTotals],
    measure: QuestionMeasure,
    questions: Mapping[bytes, Counter[Statistics]],
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
