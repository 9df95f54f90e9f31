"""The keys of HarpIA's files, in every spelling in which they are seen."""

from collections.abc import Iterable, Mapping
from typing import Any

VENDOR = "HarpIA Lab"

#: The keys of a model's answer, that of HarpIA's pages first.
ANSWER = ("actual-output", "actual_output", "actualOutput")
#: The keys of the acceptable answers, likewise.
REFERENCES = ("expected-output", "expected_output", "expectedOutput")
#: The keys of a metric's name in an output or a log, our reading first.
METRIC = ("id", "metric", "metric_id")
#: The keys of the time that a metric took, that of HarpIA's page first.
TIME = ("elapsed time", "elapsed_time", "elapsed-time", "elapsedTime")
#: The keys of the list of metrics, in lower case, that of our reading first.
METRICS = ("metrics", "metric", "metricas", "métricas")
#: The same of the list of instances.
INSTANCES = ("instances", "instance", "instancias", "instâncias")


def key_in(owner: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of `keys` that `owner` has, or ""."""
    return next((key for key in keys if key in owner), "")
