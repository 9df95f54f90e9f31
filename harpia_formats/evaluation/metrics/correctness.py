"""What makes an answer correct, for metrics that count correct answers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.metric import Measure, MetricError, Sample
from harpia_formats.evaluation.metrics.parameters import Parameters, read_parameters

#: The metric that tells whether an answer is correct, and the score from which on it is
#: if its scores are not only 0 and the best one.
DEFAULTS: Mapping[str, Any] = {"correct": "em", "threshold": None}
#: The parameter that names that metric.
CORRECT = "correct"
#: Begins the names of the parameters of that metric.
PREFIX = "correct."


@dataclass(frozen=True, slots=True)
class Correctness:
    """Whether an answer is correct, by the score of another metric."""

    #: Returns 1.0 for a correct answer and 0.0 for another one; raises
    #: `UnscorableError`.
    of: Callable[[Sample], float]
    #: The fields of a sample that it needs, and that it reads if there are any.
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    #: The parts of a signature that say what makes an answer correct.
    signature: str
    #: Returns a text that is the same for answers that count as the same answer; None
    #: if the metric does not say which do.
    same_answer: Callable[[Sample], str] | None
    #: Tells whether it can read an answer, if one that it cannot read is wrong; None if
    #: it reads all, or leaves these out.
    reads: Callable[[Sample], bool] | None = None


def read_with_correctness(
    metric: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Parameters, Correctness]:
    """Return the parameters of a metric, and what makes an answer correct.

    Parameters that begin with `PREFIX` are those of the metric that tells. Raises
    `MetricError` for an unknown parameter, a bad value, and a metric that cannot tell.
    """
    inner = {
        name.removeprefix(PREFIX): value
        for name, value in given.items()
        if name.startswith(PREFIX)
    }
    own = {name: value for name, value in given.items() if not name.startswith(PREFIX)}
    parameters = read_parameters(metric, defaults, own)
    return parameters, _correctness(parameters, inner)


def read_threshold(parameters: Parameters, best: float, name: str) -> float | None:
    """Return the score of the metric `name` from which on an answer is correct.

    It is None if none is given. `best` is the best score on the scale of that metric,
    infinity if the scale is not known. Raises `MetricError` for a threshold that every
    score of the scale reaches, or none.
    """
    if parameters.values["threshold"] is None:
        return None
    threshold = parameters.number("threshold")
    if math.isfinite(best) and not 0 < threshold <= best:
        wanted = f"more than 0 and at most {best:g}, the best score of {name}"
        raise parameters.wrong("threshold", wanted)
    return threshold


def _correctness(parameters: Parameters, inner: Mapping[str, Any]) -> Correctness:
    """Return what makes an answer correct; raises `MetricError`."""
    from harpia_formats.evaluation.metrics import measure_of  # noqa: PLC0415 - it imports this module

    name = parameters.values["correct"]
    if not isinstance(name, str):
        raise parameters.wrong("correct", "the name of a metric")
    try:
        base = measure_of(name, inner)
    except MetricError as error:
        raise MetricError(
            f"{error} (the metric of the parameter correct of {parameters.metric})"
        ) from error
    least = _least(parameters, name, base)

    def is_correct(sample: Sample) -> float:
        if base.of_sample is None:
            statistics = base.statistics(sample.answer or "", sample.references)
        else:
            statistics = base.of_sample(sample)
        (score,) = base.scores(statistics)
        return float(score is not None and score >= least)

    head, *parts = base.signature.split("|")
    left = [part for part in parts if part != OWN_LIBRARY and part[:6] != "scale:"]
    if parameters.values["threshold"] is not None:
        left.append(f"threshold:{least:g}of{base.best:g}")
    return Correctness(
        is_correct,
        base.needs,
        base.uses,
        "|".join([f"correct:{head}", *left]),
        base.same_answer,
        base.reads,
    )


def _least(parameters: Parameters, name: str, base: Measure) -> float:
    """Return the score from which on an answer is correct; raises `MetricError`."""
    reason = ""
    if base.question is not None:
        reason = "scores questions and not answers"
    elif "answer" not in base.needs:
        reason = "does not score the answer"
    elif not base.is_mean:
        reason = "is computed of all answers together"
    elif len(base.names) > 1:
        reason = f"has several scores ({', '.join(base.names)})"
    elif base.lower_is_better is not False:
        reason = "has no score of which more is better"
    if reason:
        raise parameters.wrong("correct", f"another metric: {name} {reason}")
    threshold = read_threshold(parameters, base.best, name)
    if threshold is not None:
        return threshold
    if not base.is_binary:
        raise parameters.wrong(
            "correct",
            f"a metric whose scores are 0 or 1: those of {name} may be neither, unless "
            f"{parameters.metric}.threshold says from which score on an answer is "
            "correct",
        )
    return base.best
