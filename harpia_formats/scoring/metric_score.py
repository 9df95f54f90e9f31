"""The scores of many answers, by metric and by group."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.metrics.metric import LIMITS
from harpia_formats.scoring.confusion import Confusion
from harpia_formats.scoring.left_out import NONE_LEFT_OUT, LeftOutQuestions


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """The distribution of the scores of single answers: mean, variance and range."""

    count: int = 0
    sum: float = 0.0
    sum_squares: float = 0.0
    #: The variance of the population, None if there is no score.
    variance: float | None = None
    minimum: float | None = None
    maximum: float | None = None

    @property
    def mean(self) -> float | None:
        """The mean, None if there is no score."""
        if self.minimum is None or self.maximum is None:
            return None
        # Rounding may put the mean slightly outside of the range.
        return min(max(self.sum / self.count, self.minimum), self.maximum)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the population, None if there is no score."""
        return None if self.variance is None else math.sqrt(self.variance)


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One score of one metric over many answers."""

    #: The names of the metric and of this score of it in results.
    metric: str
    name: str
    #: None where no answer could be scored.
    value: float | None
    #: How it was computed; scores with different signatures are not comparable.
    signature: str
    #: Such as "0-1", or "any" for scores without a known scale.
    scale: str
    #: Whether it is the mean of the scores of single answers, or of questions.
    is_mean: bool
    #: The number of scored answers, and of answers without a score.
    count: int
    unscored: int
    #: The confidence interval, None if it is unknown.
    interval: tuple[float, float] | None
    #: The distribution of the scores of single answers, or of questions.
    spread: ScoreDistribution
    #: The method and parameters of the interval, "" if there is none.
    method: str = ""
    #: The number of questions with a scored answer.
    questions: int = 0
    #: The standard error of a mean by question, None if it is unknown.
    standard_error: float | None = None
    #: Why the interval is approximate or missing, "" if it is neither.
    remark: str = ""
    #: Whether a lower score is better; None if neither is known to be.
    lower_is_better: bool | None = False
    #: The questions without a score, if questions are scored and not answers.
    left_out: LeftOutQuestions = NONE_LEFT_OUT
    #: The number of answers by pair of labels, of a metric of labels.
    confusion: Confusion | None = None

    @property
    def full_name(self) -> str:
        """The name of the score, with that of its metric if they differ."""
        return score_name(self.metric, self.name)

    def is_called(self, name: str) -> bool:
        """Return whether this is its name, or `METRIC.SCORE`."""
        return name in {self.name, f"{self.metric}.{self.name}"}


#: Say that a higher score is better, or a lower one.
UP, DOWN = "\u2191", "\u2193"
#: Columns of a table that are attributes of a score.
_OWN = (
    *("questions", "standard_error", "scale", "signature", "method", "remark"),
    "lower_is_better",
)
#: The columns of a table of scores.
COLUMNS = (
    *("metric", "name", "value", "low", "high", "answers", "unscored"),
    *_OWN,
    "questions_left_out",
)


def score_name(metric: str, name: str) -> str:
    """Return the name of a score, with that of its metric if they differ."""
    return name if metric == name else f"{metric}.{name}"


def no_such_score(name: str, scores: Iterable[MetricScore]) -> KeyError:
    """Return the error of a name that none of `scores` has."""
    names = ", ".join(dict.fromkeys(score.full_name for score in scores))
    return KeyError(f"no score is called {name!r} (scored: {names or 'none'})")


def arrow_of(score: MetricScore) -> str:
    """Return `UP` or `DOWN` if higher or lower scores are better, "" if not known."""
    if score.lower_is_better:
        return DOWN
    return UP if score.lower_is_better is not None and score.scale in LIMITS else ""


def score_row(score: MetricScore) -> dict[str, Any]:
    """Return a score as a row of a table."""
    low, high = score.interval or (None, None)
    return {
        "metric": score.metric,
        "name": score.name,
        "value": score.value,
        "low": low,
        "high": high,
        "answers": score.count,
        "unscored": score.unscored,
        **{name: getattr(score, name) for name in _OWN},
        "questions_left_out": score.left_out.questions,
    }


@dataclass(frozen=True, slots=True)
class Group:
    """The scores of the answers with equal values of some fields, or of all answers.

    Scores are in the order of the metrics and of their names.
    """

    #: The common value of each field, empty for all answers.
    key: Mapping[str, str]
    #: The number of records and of answers.
    records: int
    answers: int
    scores: tuple[MetricScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain data that can be written as JSON."""
        rows = [score_row(score) for score in self.scores]
        for row, score in zip(rows, self.scores, strict=True):
            if score.confusion is not None:
                row["confusion"] = score.confusion.to_dict()
        return {
            "key": dict(self.key),
            "records": self.records,
            "answers": self.answers,
            "scores": rows,
        }

    def left_out(self) -> Iterator[tuple[MetricScore, str]]:
        """Yield each score that leaves out questions, with a note on them for people.

        The note begins with the name of the score, and never with text of the data.
        """
        whose = ", ".join(filter(None, self.key.values()))
        for score in self.scores:
            if score.left_out.questions:
                name = f"{score.full_name} of {whose}" if whose else score.full_name
                yield score, score.left_out.note(name, score.questions)

    def __getitem__(self, name: str) -> MetricScore:
        """Return the score with this name, or `METRIC.SCORE`; raises `KeyError`."""
        for score in self.scores:
            if score.is_called(name):
                return score
        raise no_such_score(name, self.scores)
