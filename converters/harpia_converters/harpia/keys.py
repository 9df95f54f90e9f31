"""The keys of HarpIA's files, in every spelling that is read."""

from collections.abc import Iterable, Mapping
from typing import Any

VENDOR = "HarpIA Lab"

#: Spellings of the key of a model's answer; HarpIA's pages have the first.
ANSWER = ("actual-output", "actual_output", "actualOutput")
#: Spellings of the key of the acceptable answers; HarpIA's pages have the first.
REFERENCES = ("expected-output", "expected_output", "expectedOutput")
#: Spellings of the key of a metric's id in an output or a log. HarpIA's pages do not
#: say; the first is our reading.
METRIC = ("id", "metric", "metric_id")
#: Spellings of the key of a metric's time; HarpIA's page has the first.
TIME = ("elapsed time", "elapsed_time", "elapsed-time", "elapsedTime")
#: Spellings of the key of the list of metrics, in lower case; the first is our reading.
METRICS = ("metrics", "metric", "metricas", "métricas")
#: Spellings of the key of the list of instances, in lower case.
INSTANCES = ("instances", "instance", "instancias", "instâncias")


def key_in(owner: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of `keys` that `owner` has, or ""."""
    return next((key for key in keys if key in owner), "")
