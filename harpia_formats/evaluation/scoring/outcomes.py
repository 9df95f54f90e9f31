"""Answers with their outcomes by metrics."""

from dataclasses import dataclass
from typing import NamedTuple

from harpia_formats.evaluation.metrics import Measure
from harpia_formats.evaluation.metrics.label_reading import LabelPair
from harpia_formats.evaluation.metrics.metric import Sample, Statistics, UnscorableError

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


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """One answer of a group, with its outcome by each metric."""

    #: The number of its record in the run.
    record_number: int
    #: The digest of its question.
    question: bytes
    outcomes: tuple[Outcome, ...]
