"""What is known of answers by question, after the last of them: in bounded memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.intervals import QuestionMoments
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import GroupAnswer
from harpia_formats.evaluation.scoring.pooled_answers import PooledAnswers, PooledWhole
from harpia_formats.evaluation.scoring.question_scores import (
    QuestionTotals,
    RepeatedAnswerStore,
)
from harpia_formats.evaluation.scoring.question_store import QuestionStore


@dataclass(frozen=True, slots=True)
class WholeAnswers:
    """What is known of the answers of one group or several."""

    #: The sums over questions for each score of each metric that scores answers, and
    #: the scores of questions of the others, by the place of the metric.
    moments: dict[int, list[QuestionMoments]]
    questions: dict[int, list[QuestionTotals]]
    pooled: PooledWhole


class AnswerStore:
    """The outcomes of answers by question and group; to be closed with `close`."""

    def __init__(
        self, metrics: Sequence[ComputedMetric], options: ScoreOptions
    ) -> None:
        #: The number of scores of each metric that scores answers, by its place.
        self._names = {
            at: len(metric.names)
            for at, metric in enumerate(metrics)
            if metric.measure.question is None
        }
        self._scores = QuestionStore(
            [self._names.get(at, 0) for at in range(len(metrics))]
        )
        self._repeated = RepeatedAnswerStore(metrics)
        self._pooled = PooledAnswers(metrics, options)

    def add_answers(self, answers: Sequence[GroupAnswer], group: int) -> None:
        """Add answers to their questions.

        Raises `SourceError` if a temporary file cannot be written.
        """
        self._scores.add_answers(answers, group)
        self._repeated.add_answers(answers, group)
        self._pooled.add_answers(answers, group)

    def wholes(self, wholes: Sequence[Collection[int]]) -> list[WholeAnswers]:
        """Return what is known of some wholes, each of which is one group or several.

        Raises `SourceError` if a temporary file fails, and `MetricError` if a question
        cannot be scored.
        """
        moments = [self._by_metric(found) for found in self._scores.moments(wholes)]
        first = [{at: mine[0] for at, mine in found.items()} for found in moments]
        pooled = self._pooled.wholes(wholes, first)
        questions = self._repeated.totals(wholes)
        found = zip(moments, questions, pooled, strict=True)
        return [WholeAnswers(*parts) for parts in found]

    def _by_metric(
        self, moments: Sequence[QuestionMoments]
    ) -> dict[int, list[QuestionMoments]]:
        found = iter(moments)
        return {
            at: [next(found) for _ in range(names)] for at, names in self._names.items()
        }

    def close(self) -> None:
        """Remove the temporary files, if there are any."""
        for store in (self._scores, self._repeated, self._pooled):
            store.close()
