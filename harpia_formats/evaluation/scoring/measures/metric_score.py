"""The scores of many answers, by metric and by group, with their distribution."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from harpia_formats.evaluation.scoring.significance.intervals import QUANTA, ExactSum
from harpia_formats.model.describe import with_noun
from harpia_formats.model.vendor_metrics import LIMITS


@dataclass(frozen=True, slots=True)
class LeftOutQuestions:
    """The questions with too few answers for a score."""

    questions: int = 0
    #: The fewest and the most answers that one of them has.
    fewest: int = 0
    most: int = 0
    #: How many answers the score needs.
    least: int = 0

    @classmethod
    def of(cls, answers: Counter[int], least: int) -> Self:
        """Return them by how many of them have each number of answers."""
        if not answers:
            return cls()
        return cls(answers.total(), min(answers), max(answers), least)

    def note(self, name: str, scored: int) -> str:
        """Return which questions a score leaves out, for people.

        `scored` is the number of questions that have it.
        """
        have = f"{self.fewest:,}"
        if self.fewest < self.most:
            have += f" to {self.most:,}"
        if not scored:
            return (
                f"{name} has no score: {self.least:,} answers to a question are "
                f"needed, and questions have {have}"
            )
        return (
            f"{name} leaves out {self.questions:,} of {self.questions + scored:,} "
            f"questions: {self.least:,} answers are needed, and they have {have}"
        )


#: No question is left out.
NONE_LEFT_OUT = LeftOutQuestions()


#: Stands for a value that is the empty text.
EMPTY = "(empty)"
#: What gives the two labels of an answer, unless they are of two raters.
SIDES = "reference", "answer"


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of answers by the label of the reference and that of the answer.

    Of two raters it is the number by the labels that both gave.
    """

    #: The labels of rows and columns: in the given order, or else sorted.
    labels: tuple[str, ...]
    #: A row for each label of references, in it a number for each label of answers.
    counts: tuple[tuple[int, ...], ...]
    #: What gives the labels of rows, and those of columns: `SIDES` or two raters.
    sides: tuple[str, str] = SIDES

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain data that can be written as JSON."""
        raters = {} if self.sides == SIDES else {"sides": list(self.sides)}
        return {
            "labels": list(self.labels),
            **raters,
            "counts": [list(row) for row in self.counts],
        }


#: Stands behind an interval that is approximate, and where there is none.
APPROXIMATE, MISSING = "*", "\u2020"


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
class OverAnswers:
    """A score by which each answer counts once, and not each question."""

    value: float | None
    #: The confidence interval, None if it is unknown.
    interval: tuple[float, float] | None
    #: The standard error of a mean by question, None if it is unknown.
    standard_error: float | None
    #: The fewest and the most answers that a question has.
    fewest: int
    most: int


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
    #: Whether it is the mean of the scores of questions, each the mean of its answers'
    #: scores or a score of its own.
    is_mean: bool
    #: The number of scored answers, and of answers without a score.
    count: int
    unscored: int
    #: The confidence interval, None if it is unknown.
    interval: tuple[float, float] | None
    #: The distribution of the scores of single answers, or of questions.
    spread: ScoreDistribution
    #: The method and parameters of the interval, "" if there is none.
    method: str
    #: The number of questions with a scored answer.
    questions: int
    #: The standard error of a mean by question, None if it is unknown.
    standard_error: float | None
    #: Why the interval is approximate or missing, "" if it is neither.
    remark: str
    #: Whether a lower score is better; None if neither is known to be.
    lower_is_better: bool | None
    #: How many of the scored answers the metric could not read and counts as wrong;
    #: None if it counts none so.
    unreadable: int | None
    #: The questions without a score, if questions are scored and not answers.
    left_out: LeftOutQuestions
    #: The number of answers by pair of labels, of a metric of labels.
    confusion: Confusion | None
    #: The score by which each answer counts once; None if it is the same, since all
    #: questions have equally many answers, or since questions are scored.
    over_answers: OverAnswers | None

    def as_over_answers(self) -> "MetricScore":
        """Return the score by which each answer counts once, as vendors do."""
        one = self.over_answers
        if one is None:
            return self
        return replace(
            self,
            value=one.value,
            interval=one.interval,
            method=self.method if one.interval else "",
            remark=self.remark if one.interval else "",
            standard_error=one.standard_error,
            over_answers=None,
        )

    @property
    def full_name(self) -> str:
        """The name of the score, with that of its metric if they differ."""
        return score_name(self.metric, self.name)

    @property
    def unreadable_share(self) -> float | None:
        """The share of scored answers that the metric could not read, None if unknown.

        These answers are wrong.
        """
        if self.unreadable is None or not self.count:
            return None
        return self.unreadable / self.count

    def is_called(self, name: str) -> bool:
        """Return whether this is its name, or `METRIC.SCORE`."""
        return name in {self.name, f"{self.metric}.{self.name}"}


#: Groups whose unequal numbers of answers are listed.
_LISTED = 5
#: Say that a higher score is better, or a lower one.
UP, DOWN = "\u2191", "\u2193"
#: The columns of a table of scores.
COLUMNS = (
    *("metric", "name", "value", "low", "high", "answers", "unscored", "questions"),
    *("standard_error", "scale", "signature", "method", "remark", "lower_is_better"),
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
    others = {
        "low": low,
        "high": high,
        "answers": score.count,
        "questions_left_out": score.left_out.questions,
    }
    row = {
        name: others[name] if name in others else getattr(score, name)
        for name in COLUMNS
    }
    return row if score.unreadable is None else row | {"unreadable": score.unreadable}


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
            if score.over_answers is not None:
                row["over_answers"] = score.over_answers.value
        return {
            "key": dict(self.key),
            "records": self.records,
            "answers": self.answers,
            "scores": rows,
        }

    @property
    def label(self) -> str:
        """The common values as tables show them, "" for all answers."""
        return ", ".join(value or EMPTY for value in self.key.values())

    def as_over_answers(self) -> "Group":
        """Return the scores by which each answer counts once, as vendors do."""
        own = tuple(score.as_over_answers() for score in self.scores)
        return replace(self, scores=own)

    def left_out(self) -> Iterator[tuple[MetricScore, str]]:
        """Yield each score that leaves out questions, with a note on them for people.

        The note begins with the name of the score, and never with text of the data.
        """
        whose = f" of {self.label}" if self.key else ""
        for score in self.scores:
            if score.left_out.questions:
                name = f"{score.full_name}{whose}"
                yield score, score.left_out.note(name, score.questions)

    def __getitem__(self, name: str) -> MetricScore:
        """Return the score with this name, or `METRIC.SCORE`; raises `KeyError`."""
        for score in self.scores:
            if score.is_called(name):
                return score
        raise no_such_score(name, self.scores)

    def __iter__(self) -> Iterator[MetricScore]:
        """Yield the scores."""
        return iter(self.scores)

    def __contains__(self, name: object) -> bool:
        """Tell whether a score has this name, or is this one."""
        if isinstance(name, str):
            return any(score.is_called(name) for score in self.scores)
        return name in self.scores


def uneven_notes(groups: Iterable[tuple[str, Group]]) -> Iterator[str]:
    """Yield which questions have unequal numbers of answers, for people.

    Each group has a name, "" for the only one.
    """
    found = [
        note
        for name, group in groups
        if (note := _uneven_note(name, group)) is not None
    ]
    yield from found[:_LISTED]
    if len(found) > _LISTED:
        rows = with_noun(len(found) - _LISTED, "more row")
        yield f"questions of {rows} of the table have unequal numbers of answers"


def _uneven_note(name: str, group: Group) -> str | None:
    found = {
        score.full_name: one
        for score in group.scores
        if (one := score.over_answers) is not None
    }
    if not found:
        return None
    fewest = min(one.fewest for one in found.values())
    most = max(one.most for one in found.values())
    of = f" of {name}" if name else ""
    values = ", ".join(
        f"{score} {'none' if one.value is None else f'{one.value:.4f}'}"
        for score, one in found.items()
    )
    return (
        f"questions{of} have {fewest:,} to {most:,} answers, and each question counts "
        f"once; over all answers: {values}"
    )


@dataclass(slots=True)
class RunningDistribution:
    """The running distribution of one score over single answers or questions."""

    count: int = 0
    total: ExactSum = field(default_factory=ExactSum)
    #: Sums of the scores and of their squares, in multiples of 1/QUANTA.
    quanta: int = 0
    squares: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf

    def add(self, values: Sequence[float]) -> None:
        """Add some scores."""
        self.minimum = min((self.minimum, *values))
        self.maximum = max((self.maximum, *values))
        self.count += len(values)
        self.total.add(values)
        whole = [round(value * QUANTA) for value in values]
        self.quanta += sum(whole)
        self.squares += sum([value * value for value in whole])

    def merge(self, other: Self) -> None:
        """Add the scores of `other`."""
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self.count += other.count
        self.total.merge(other.total)
        self.quanta += other.quanta
        self.squares += other.squares

    def distribution(self) -> ScoreDistribution:
        """Return the distribution so far."""
        if not self.count:
            return ScoreDistribution()
        spread = self.squares * self.count - self.quanta**2
        return ScoreDistribution(
            self.count,
            self.total.value,
            self.squares / QUANTA**2,
            spread / (self.count * QUANTA) ** 2,
            self.minimum,
            self.maximum,
        )
