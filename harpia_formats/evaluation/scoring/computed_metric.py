"""A metric of a run with its parameters."""

from dataclasses import dataclass, field, replace
from typing import Any

from harpia_formats.evaluation.metrics import METRICS, Measure, measure_of
from harpia_formats.evaluation.metrics.metric import MetricError
from harpia_formats.model.metric_profile import MetricRequest


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
