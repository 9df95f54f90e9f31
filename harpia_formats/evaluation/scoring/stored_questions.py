"""Metrics of questions by stored scores: what a tool stored tells what is correct."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.evaluation.metrics import Measure, maj_at_k, numbered, pass_at_k
from harpia_formats.evaluation.metrics.correctness import Correctness, read_threshold
from harpia_formats.evaluation.metrics.metric import PAIR, Sample, Statistics
from harpia_formats.evaluation.metrics.parameters import Parameters, read_parameters
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.intervals import number_or_none
from harpia_formats.evaluation.scoring.outcomes import NO_SUCH_SCORE, Outcome
from harpia_formats.evaluation.scoring.samples import extracted_text
from harpia_formats.model.metric_profile import MetricRequest, ScoreError
from harpia_formats.model.record import Output, Score
from harpia_formats.model.stored_score import declared_best

#: How answers are compared that no tool extracted, if `same` does not say.
SAME = "byob"
#: The metric of each name that can be computed of stored scores.
_MEASURES: Mapping[str, Callable[[Parameters, Correctness], Measure]] = {
    pass_at_k.NAME: pass_at_k.measure_with,
    maj_at_k.NAME: maj_at_k.measure_with,
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    pass_at_k.NAME: {**pass_at_k.DEFAULTS, "correct": None},
    maj_at_k.NAME: {**maj_at_k.DEFAULTS, "correct": None, "same": SAME},
}
_NEITHER = "whose values are neither right nor wrong"
#: Other values of a quantity that an error names.
_SHOWN = 3


def is_of_questions(name: str) -> bool:
    """Tell whether a metric called `name` can be computed of stored scores."""
    return numbered(name)[0] in _MEASURES


@dataclass(slots=True)
class Judgements:
    """Which values one stored quantity has, to tell whether they are wrong or right."""

    best: float
    #: The number of values that are wrong or right, and the first others.
    clear: int = 0
    others: dict[float, None] = field(default_factory=dict)

    @classmethod
    def of_quantity(cls, name: str, signature: str) -> "Judgements":
        """Return none so far, of a quantity with this name and signature."""
        best = declared_best(name, signature)
        return cls(100.0 if best == 100 else 1.0)  # noqa: PLR2004 - the scale 0-100

    def add(self, score: Score) -> None:
        """Add a stored score."""
        value = number_or_none(score.value)
        if isinstance(score.is_correct, bool) or value in {0.0, self.best}:
            self.clear += 1
        elif value is not None and len(self.others) < _SHOWN:
            self.others[value] = None


@dataclass(frozen=True, slots=True)
class StoredQuestions:
    """A metric of questions by one stored quantity."""

    metric: ComputedMetric
    #: The metric and the signature of the stored scores.
    key: tuple[str, str]
    best: float
    #: The score from which on an answer is correct, None if scores are wrong or right.
    threshold: float | None
    #: Returns the statistics of an answer of which it is known whether it is correct.
    statistics: Callable[[Output, float], Statistics | str]

    def outcome(self, output: Output, scores: Sequence[Score]) -> Outcome:
        """Return the outcome of an answer; `scores` are those of the quantity."""
        if not scores:
            return NO_SUCH_SCORE
        if len(scores) > 1:
            return f"there are several stored scores called {self.key[0]}"
        correct = self._correct(scores[0])
        if correct is None:
            return f"the stored {self.key[0]} is no number"
        found = self.statistics(output, correct)
        if isinstance(found, str):
            return found
        return found, self.metric.measure.scores(found)

    def _correct(self, score: Score) -> float | None:
        value = number_or_none(score.value)
        if self.threshold is not None:
            return None if value is None else float(value >= self.threshold)
        if isinstance(score.is_correct, bool):
            return float(score.is_correct)
        return None if value is None else float(value == self.best)


def stored_questions(
    request: MetricRequest,
    found: Mapping[tuple[str, str], Judgements],
    labels: Mapping[tuple[str, str], str],
) -> tuple[list[StoredQuestions], list[str]]:
    """Return a metric of questions, by each stored quantity that tells what is correct.

    With it come notes on the quantities that do not. `labels` has the name of each
    quantity. Raises `ScoreError` if none tells, and `MetricError` for a bad parameter.
    """
    family, k = numbered(request.metric)
    given = {**request.parameters, **({} if k is None else {"k": k})}
    parameters = read_parameters(family, _DEFAULTS[family], given)
    chosen = parameters.values["correct"]
    wanted = [key for key in found if chosen is None or chosen in {key[0], labels[key]}]
    if not wanted:
        raise parameters.wrong("correct", f"one of {', '.join(labels.values())}")
    thresholds = {
        key: read_threshold(parameters, declared_best(*key), labels[key])
        for key in wanted
    }
    able = [
        key for key in wanted if thresholds[key] is not None or not found[key].others
    ]
    if not able:
        shown = "; ".join(
            f"{labels[key]} has {', '.join(map(repr, found[key].others))}"
            for key in wanted
        )
        raise ScoreError(
            f"{request.label} needs stored scores that are right or wrong, and these "
            f"are neither: {shown}; --param {family}.threshold=SCORE says from which "
            "on an answer is correct"
        )
    unable = [labels[key] for key in wanted if key not in able]
    notes = [
        f"{request.label} is not computed of {name}, {_NEITHER}" for name in unable
    ]
    return [
        _of_quantity(
            request,
            parameters,
            key,
            found[key].best,
            request.label if len(able) == 1 else f"{request.label} of {labels[key]}",
        )
        for key in able
    ], notes


def _of_quantity(
    request: MetricRequest,
    parameters: Parameters,
    key: tuple[str, str],
    best: float,
    label: str,
) -> StoredQuestions:
    """Return the metric of questions by one stored quantity."""
    threshold = parameters.values["threshold"]
    of = (key[1] or f"{key[0]}|impl:unknown").replace("|", ";")
    least = "" if threshold is None else f"|threshold:{threshold:g}"
    correctness = Correctness(
        lambda sample: 0.0,  # noqa: ARG005 - what is correct is stored
        needs=PAIR,
        uses=(),
        signature=f"correct:stored|of:{of}{least}",
        same_answer=None,
    )
    measure = _MEASURES[parameters.metric](parameters, correctness)
    names = (label,) if len(measure.names) == 1 else ()
    metric = ComputedMetric(
        MetricRequest(request.metric, request.parameters, key=label, names=names),
        measure,
    )
    return StoredQuestions(metric, key, best, threshold, _statistics(parameters))


def _statistics(parameters: Parameters) -> Callable[[Output, float], Statistics | str]:
    """Return what makes the statistics of an answer; raises `MetricError`."""
    if parameters.metric == pass_at_k.NAME:
        return lambda _, correct: (correct, 1.0)
    same = maj_at_k.same_answer_of(parameters, None)

    def statistics(output: Output, correct: float) -> Statistics | str:
        text = extracted_text(output)
        if text is None:
            text = answer_text(output)
        if text is None:
            return "there is no answer to compare with others"
        return maj_at_k.statistics_of(same(Sample(text)), correct)

    return statistics
