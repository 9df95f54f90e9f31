"""The metrics of a run with their parameters, and the outcomes of answers by them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics import METRICS, Measure, measure_of
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import (
    MetricError,
    Sample,
    Statistics,
    UnscorableError,
)
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.vendor_metrics import MetricRequest


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

    @property
    def leaves_unreadable_out(self) -> bool:
        """Whether it can count an answer that it cannot read as wrong, and does not."""
        metric = METRICS.get(self.request.metric)
        parameters = {} if metric is None else metric.parameters
        given = {**parameters, **self.request.parameters}
        return bool(given.get("unreadable", "wrong") != "wrong")


def computed_metric(request: MetricRequest) -> ComputedMetric:
    """Return the metric of a request with its parameters; raises `MetricError`."""
    if request.unavailable_reason:
        raise MetricError(request.unavailable_reason)
    measure = measure_of(request.metric, request.parameters)
    if request.note:
        signature = f"{measure.signature}|{request.note}"
        measure = replace(measure, signature=signature)
    return ComputedMetric(request, measure)


#: The statistics and the scores of one answer by one metric, or why it has none. For a
#: metric of labels they are its pair of labels, and no scores.
Outcome = tuple[Statistics | LabelPair, tuple[float | None, ...]] | str


class UnreadableOutcome(NamedTuple):
    """The outcome of an answer that a metric cannot read and counts as wrong."""

    statistics: Statistics | LabelPair
    scores: tuple[float | None, ...]


#: The outcome of an answer that a metric is not about, so that it does not lack it.
NO_SUCH_SCORE = ""

#: A text and a sample that every metric can score.
_ANY = "1 2 3 4 5 6"
_ANY_SAMPLE = Sample(_ANY, [_ANY], [_ANY], [_ANY], [_ANY], [_ANY])


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    if measure.question is not None:
        return len(measure.question.missing)
    if measure.labels is not None:
        return len(LabelPair._fields)
    try:
        if measure.of_sample is not None:
            return len(measure.of_sample(_ANY_SAMPLE))
        return len(measure.statistics(_ANY, [_ANY]))
    except UnscorableError:
        # Of a mean they are the sums of its scores and their number.
        return len(measure.names) + 1


def numbers_of(outcome: Outcome) -> Statistics | None:
    """Return the statistics of an outcome that add up, None if it has none."""
    if isinstance(outcome, str) or isinstance(outcome[0], LabelPair):
        return None
    return outcome[0]


def label_pair(outcome: Outcome) -> LabelPair | None:
    """Return the labels of an outcome, None if it has none."""
    if isinstance(outcome, str) or not isinstance(outcome[0], LabelPair):
        return None
    return outcome[0]


@dataclass(slots=True)  # not frozen: then each field is set by a call
class GroupAnswer:
    """One answer of a group, with its outcome by each metric."""

    #: The number of its record in the run.
    record_number: int
    #: The digest of its question; b"" of an answer that is not added yet, and whose
    #: question is known only by that number.
    question: bytes
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)  # not frozen: then each field is set by a call
class MeasuredAnswer(GroupAnswer):
    """One answer with all that the totals of systems and the findings need of it."""

    #: Its model, None if it names none.
    model: str | None
    #: Whether it has a text or a stored score.
    is_given: bool
    #: The number of references of its record.
    references: int
    #: The values of the fields by which the answers of a system are grouped.
    key: tuple[str, ...]
    #: The name of its file.
    path: str
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool = False
    #: The code and the message of what is to be reported, and the model of the answer
    #: if the record has answers of several.
    findings: tuple[tuple[str, str, str], ...] = ()
    #: Whether it is missing and counts as 0.
    is_zero: bool = False
    #: Whether it has no text and holds stored scores.
    is_only_stored: bool = False
    #: The stored scores with which computed ones are compared.
    scores: Sequence[Score] = ()


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
    #: The name of the file.
    path: str = ""
