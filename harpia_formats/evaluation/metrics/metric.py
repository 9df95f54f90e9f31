"""The types of a metric: statistics that add up, and scores of their sums."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harpia_formats.evaluation.metrics.label_reading import LabelScores
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.stored_score import LIMITS

#: Numbers of one record, or their sums over many, which are added place by place.
Statistics = tuple[float, ...]
#: An answer, and its references, of which there is at least one.
Pair = tuple[str, Sequence[str]]

#: The fields of `Sample` that a metric of pairs needs.
PAIR = ("answer", "references")
#: Why a record without a field of `Sample` has no score.
LACKS = {
    "answer": "there is no answer to score",
    "references": "there is no reference to compare with",
    "choices": "there are no choices",
    "contexts": "there are no contexts",
    "likelihoods": "there are no likelihoods of the choices",
    "retrieved_documents": "there are no retrieved documents",
    "ground_truth_documents": "there are no ground-truth documents",
}
#: Fields that a record does not have if they are empty. No context or document is a
#: result of a retrieval as any other.
_NEVER_EMPTY = frozenset({"references", "choices"})


def limits_of(scale: str) -> tuple[float, float]:
    """Return the worst and the best score on a scale, infinity if none is the best."""
    return LIMITS.get(scale, (0.0, math.inf))


class Sample(NamedTuple):
    """What metrics may need of an answer and its record: plain data for workers."""

    answer: str | None = None
    references: Sequence[str] = ()
    choices: Sequence[str] = ()
    #: The passages that the answer should be based on, None if the record has no list.
    contexts: Sequence[str] | None = None
    #: The documents that a retriever found, best first, and those that it should find,
    #: as decoded JSON; None if the record has no list.
    retrieved_documents: Any = None
    ground_truth_documents: Any = None
    #: What `metadata.correct_answers` holds, None if the record has none.
    correct_answers: Any = None
    #: The stored log-likelihood of each choice, None if the record has none.
    likelihoods: Sequence[float] | None = None
    #: What each filter of a tool kept of the answer, by its name.
    extracted: Mapping[str, str] | None = None

    def lacking(self, needs: Sequence[str]) -> str:
        """Return the first field in `needs` that the record lacks, "" if it has all."""
        for name in needs:
            value = getattr(self, name)
            if value is None or (name in _NEVER_EMPTY and not value):
                return name
        return ""


class MetricError(HarpiaFormatsError):
    """A metric that cannot be computed as requested; the text tells how to fix it."""


class UnscorableError(Exception):
    """One record that a metric cannot score; the text is the reason.

    Without a text the metric is not about the record, so that it lacks no score.
    """


@dataclass(frozen=True, slots=True)
class QuestionMeasure:
    """How a metric scores a question by all answers to it."""

    #: Returns a score for each name from the statistics of the answers to one question,
    #: each with the number of answers that have it. It is asked only for the names
    #: whose `least` is reached.
    scores: Callable[[Mapping[Statistics, int]], tuple[float | None, ...]]
    #: The fewest answers to a question of which each score can be computed.
    least: tuple[int, ...]
    #: The statistics of a missing answer that counts as 0.
    missing: Statistics


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric with its parameters.

    The score of one record is `scores(statistics(answer, references))`. The score of
    many is `scores` of the sum of their statistics, which may be added in any order,
    each weighted by 1 / answers of its question; with `question` it is the mean of the
    scores of questions.
    """

    #: The names of its scores, in their order.
    names: tuple[str, ...]
    #: The definition, library and version, options and scale of its scores.
    signature: str
    #: One of `model.stored_score.LIMITS`, or "any" for scores without a known scale.
    scale: str
    #: The statistics of one answer and its references, always as many numbers; raises
    #: `UnscorableError`.
    statistics: Callable[[str, Sequence[str]], Statistics]
    #: Returns a score for each name from summed statistics; None if none were added.
    scores: Callable[[Sequence[float]], tuple[float | None, ...]]
    #: Returns the statistics of many pairs at once, if that is faster than one by one.
    batch: Callable[[Sequence[Pair]], list[Statistics]] | None = None
    #: Whether the score of many records is the mean of their scores.
    is_mean: bool = False
    #: Whether every score lies on the scale, between 0 and the best score.
    is_bounded: bool = False
    #: Whether a lower score is better, as that of a rate of errors is; None if neither
    #: is, as of a length.
    lower_is_better: bool | None = False
    #: The fields of `Sample` that a record must have; one that lacks any has no score.
    needs: tuple[str, ...] = PAIR
    #: The fields of `Sample` that it reads as well where a record has them.
    uses: tuple[str, ...] = ()
    #: The statistics of a sample with these fields, for a metric that needs others than
    #: an answer and its references: then `statistics` and `batch` are not used. Raises
    #: `UnscorableError`.
    of_sample: Callable[[Sample], Statistics] | None = None
    #: Whether the score of one answer is 0 or the best score: wrong or right.
    is_binary: bool = False
    #: Returns a text that is the same for answers that count as the same answer; None
    #: if the metric does not say which do. Raises `UnscorableError`.
    same_answer: Callable[[Sample], str] | None = None
    #: Tells whether an answer can be read, of a metric that counts one that cannot as
    #: wrong; None for any other metric.
    reads: Callable[[Sample], bool] | None = None
    #: How a question is scored, if questions are scored and not answers.
    question: QuestionMeasure | None = None
    #: The scores of counts by pair of labels; None for any other metric. `statistics`
    #: and `scores` of such a metric are for labels that are given only.
    labels: LabelScores | None = None

    @property
    def scores_answers(self) -> bool:
        """Whether an answer alone has a score, and not only a question or many."""
        return self.question is None and self.labels is None

    @property
    def is_bounded_mean(self) -> bool:
        """Whether a score is a mean of scores on the scale, as a proportion is."""
        return self.is_mean and self.is_bounded

    @property
    def best(self) -> float:
        """The best score on the scale."""
        return limits_of(self.scale)[1]

    @property
    def widest(self) -> float:
        """The largest difference of two scores; rates of errors have no such limit."""
        worst, best = limits_of(self.scale)
        return math.inf if self.lower_is_better else best - worst


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric without parameters."""

    name: str
    #: The definition in one sentence.
    summary: str
    #: The names of its parameters with their defaults.
    parameters: Mapping[str, Any]
    #: Returns the metric with the given parameters; raises `MetricError` for an unknown
    #: parameter, a bad value or a package that is not installed.
    build: Callable[[Mapping[str, Any]], Measure]
    #: Whether the score of many answers is computed of their sums, and is not the mean
    #: of their scores.
    #: False for a metric of labels, by which no single answer has a score: a stored
    #: score of its name is another tool's own.
    is_pooled: bool = False
