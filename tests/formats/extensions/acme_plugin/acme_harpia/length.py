"""acme-length: how long an answer is, against the shortest reference."""

from collections.abc import Mapping, Sequence
from typing import Any

from harpia_formats.plugins import (
    Measure,
    Metric,
    UnscorableError,
    mean_measure,
    read_parameters,
)

DEFAULTS = {"most": 1}


def build(given: Mapping[str, Any]) -> Measure:
    """Return the metric with a value for each parameter; raises `MetricError`."""
    most = read_parameters("acme-length", DEFAULTS, given).number("most")

    def ratio(answer: str, references: Sequence[str]) -> float:
        shortest = min(map(len, references), default=0)
        if not shortest:
            raise UnscorableError("there is no reference with text")
        return min(len(answer) / shortest, most)

    return mean_measure("acme-length", f"acme-length|most:{most:g}", ratio)


METRIC = Metric(
    "acme-length",
    "The characters of an answer by those of its shortest reference.",
    DEFAULTS,
    build,
)
