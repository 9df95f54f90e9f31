"""The scores of a data set, of its groups and of its answers."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.metrics import Measure, measure_of
from harpia_formats.metrics.label_reading import LabelPair
from harpia_formats.metrics.metric import MetricError, Statistics
from harpia_formats.model.metric_profile import MetricRequest, ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import Report, ValidationFailed
from harpia_formats.model.result import Result
from harpia_formats.reading.placed_record import PlacedRecord
from harpia_formats.scoring.confusion import Confusion
from harpia_formats.scoring.left_out import NONE_LEFT_OUT, LeftOutQuestions


@dataclass(frozen=True, slots=True)
class ComputedMetric:
    """A metric of a run with its parameters, and its names in results."""

    request: MetricRequest
    #: It follows from the request.
    measure: Measure = field(compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the request alone: the functions of a measure cannot be pickled."""
        return computed_metric, (self.request,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its scores in results."""
        return self.request.names or self.measure.names


def computed_metric(request: MetricRequest) -> ComputedMetric:
    """Return the metric of a request with its parameters; raises `MetricError`."""
    if request.unavailable_reason:
        raise MetricError(request.unavailable_reason)
    measure = measure_of(request.metric, request.parameters)
    if request.note:
        signature = f"{measure.signature}|{request.note}"
        measure = replace(measure, signature=signature)
    return ComputedMetric(request, measure)


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer with its own scores."""

    #: The numbers of the answer and of its record in the run, both from 1.
    number: int
    record_number: int
    record: Record
    output: Output
    #: The text that was scored; None if there was none.
    answer: str | None
    #: The scores of each metric, None for each that is missing.
    values: tuple[tuple[float | None, ...], ...]
    #: The statistics of each metric, None if the answer could not be scored.
    statistics: tuple[Statistics | LabelPair | None, ...]
    #: The record with its place in the file.
    placed: PlacedRecord
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool


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
    #: "0-1" or "0-100", or "any" for scores without a known scale.
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


#: Columns of a table that are attributes of a score.
_OWN = (
    *("questions", "standard_error", "scale", "signature", "method", "remark"),
    "lower_is_better",
)
#: The contract of `Scores.to_dict`.
SCHEMA = "harpia-formats/scores/1"


def score_name(metric: str, name: str) -> str:
    """Return the name of a score, with that of its metric if they differ."""
    return name if metric == name else f"{metric}.{name}"


def _as_row(score: MetricScore) -> dict[str, Any]:
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
        rows = [_as_row(score) for score in self.scores]
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
        raise KeyError(name)


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Result):
    """The scores of a data set, with the report on the input."""

    columns: ClassVar = (
        *("metric", "name", "value", "low", "high", "answers", "unscored"),
        *_OWN,
    )

    profile: str
    #: The metrics that were computed, in the requested order.
    measured: tuple[ComputedMetric, ...]
    #: Names of requested metrics that cannot be computed.
    unknown: tuple[str, ...]
    #: The answers of each model, which are several systems if there are several.
    systems: tuple[Group, ...]
    #: The groups of the answers of each model, in the order of their first one.
    groups: tuple[Group, ...]
    #: Seconds that each metric took over all answers.
    seconds: tuple[float, ...]
    #: The report of validation on the input.
    report: Report
    #: Whether reading stopped before the end of the input.
    is_broken: bool
    #: The models of the answers, in the order of their first one.
    models: tuple[str, ...] = ()
    #: The first problems of each kind.
    problems: tuple[Problem, ...] = ()
    #: The names of the files that were written.
    outputs: tuple[str, ...] = ()
    #: Where computed scores differ from those that tools stored, as plain data.
    stored_differences: tuple[dict[str, Any], ...] = ()
    #: Notes on the run, for people.
    said: tuple[str, ...] = field(default=())

    @property
    def total(self) -> Group:
        """All answers, if they are of one model; raises `ScoreError` for several."""
        if len(self.systems) > 1:
            models = ", ".join(system.key["model"] for system in self.systems)
            raise ScoreError(
                f"the answers are of several models ({models}), which have no common "
                "score: `systems` has the scores of each, and `model` chooses one"
            )
        return self.systems[0] if self.systems else Group({}, 0, 0, ())

    def __getitem__(self, name: str) -> MetricScore:
        """Return the score over all answers with this name.

        The name is that of the score, or `METRIC.SCORE`. Raises `KeyError`, and
        `ScoreError` if it is one of the answers of several models.
        """
        if not any(score.is_called(name) for score in self):
            raise KeyError(name)
        return self.total[name]

    def __iter__(self) -> Iterator[MetricScore]:
        """Yield the scores over all answers, of one model after the other."""
        return chain.from_iterable(system.scores for system in self.systems)

    def __len__(self) -> int:
        """Return the number of scores over all answers."""
        return sum(len(system.scores) for system in self.systems)

    def headline(self) -> str:
        """Return the scores over all answers in one line.

        Those of several models are in the tables only: here are their names.
        """
        if len(self.systems) > 1:
            names = dict.fromkeys(score.full_name for score in self)
            models = f"{len(self.systems):,} models"
            return f"{', '.join(names)} of {models} over {self._counts()}"
        values = [
            f"{score.full_name} "
            f"{'none' if score.value is None else f'{score.value:.4f}'}"
            for score in self
        ]
        return f"{', '.join(values)} over {self._counts()}"

    def _counts(self) -> str:
        """Return how many answers are scored, and how many there are if not all are."""
        answers = sum(system.answers for system in self.systems)
        counts = [{score.count for score in system.scores} for system in self.systems]
        least, most = (sum(map(end, filter(None, counts))) for end in (min, max))
        if least == most == answers:
            return f"{answers:,} answers"
        scored = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        return f"{scored} of {answers:,} answers"

    def groups_by_system(self) -> Iterator[Group]:
        """Yield the groups of each system, and then the system."""
        for system in self.systems:
            for group in self.groups:
                if system.key.items() <= group.key.items():
                    yield group
            yield system

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score of all answers and of each group."""
        return [
            {**group.key, **_as_row(score)}
            for group in (*self.systems, *self.groups)
            for score in group.scores
        ]

    def shown_tables(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the table with words for all answers and for values without text."""
        fields = self.groups[0].key if self.groups else {}
        rows = [
            {
                **group.key,
                **{name: group.key.get(name, "(all)") or "(empty)" for name in fields},
                **_as_row(score),
            }
            for group in (*self.systems, *self.groups)
            for score in group.scores
        ]
        return [("", rows)]

    def shown_charts(self) -> str:
        """Return charts of the scores with their intervals, as HTML for a notebook."""
        from harpia_formats.scoring.charts import embedded, score_charts  # noqa: PLC0415 - only notebooks show charts

        return embedded(lambda name: score_charts(self, name))

    def to_dict(self) -> dict[str, Any]:
        """Return the scores by their contract, as JSON has them."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "profile": self.profile,
            "systems": [system.to_dict() for system in self.systems],
            "groups": [group.to_dict() for group in self.groups],
            "unknown": list(self.unknown),
            "models": list(self.models),
            "skipped": self.skipped,
            "outputs": list(self.outputs),
            "stored_differences": list(self.stored_differences),
            "notes": list(self.said),
            "report": self.report.to_dict(),
        }

    @property
    def is_whole(self) -> bool:
        """Whether the whole input was read, so that the scores cover all answers."""
        return bool(self.systems) and not self.is_broken

    @property
    def skipped(self) -> int:
        """The invalid records that were left out, as the options ask."""
        return sum(file.invalid + file.undetermined for file in self.report.files)

    def raise_for_errors(self) -> None:
        """Raise an error unless there is a score of the whole input by each metric.

        It is `ValidationFailed` if the input was not read to its end, and `ScoreError`
        if no answer could be scored by a metric.
        """
        if not self.is_whole:
            raise ValidationFailed(self.report)
        for score in chain.from_iterable(system.scores for system in self.systems):
            if score.value is None and score.left_out.questions:
                name = score_name(score.metric, score.name)
                raise ScoreError(score.left_out.note(name, 0))
            if score.value is None and score.confusion is not None:
                raise ScoreError(
                    f"{score.metric}.{score.name} has no score: {score.remark}"
                )
            if score.value is None:
                raise ScoreError(
                    f"{score.metric}.{score.name} has no score: none of "
                    f"{score.unscored:,} answers could be scored"
                )

    @property
    def ok(self) -> bool:
        """Whether the input was read as asked for and each metric has a score.

        Invalid records that were left out as the options ask are no failure.
        """
        is_read = self.is_whole and self.report.ok_without_invalid
        return is_read and all(
            score.value is not None
            for system in self.systems
            for score in system.scores
        )
