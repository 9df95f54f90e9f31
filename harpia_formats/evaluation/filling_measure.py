"""The measures with which a conversion scores answers that have no score."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harpia_formats.evaluation.metrics.metric import Measure


def filling_measure(name: str) -> "Measure":
    """Return the measure of the metric `name` with its default parameters.

    Raises `MetricError` as `measure_of` does.
    """
    from harpia_formats.evaluation.metrics import measure_of  # noqa: PLC0415 - all metrics are loaded: only where answers are scored

    return measure_of(name, {})
