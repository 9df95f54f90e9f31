"""The metrics that an input asks for, read from its header."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.harpia.keys import METRIC, key_in


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an input."""

    id: str
    enabled: bool
    parameters: Any


def metrics_of(header: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return the metrics in an input's `header`, valid or not, that have an id."""
    items = header.get("metrics", header.get("metricas"))
    return tuple(
        Metric(item["id"], is_enabled(item), item.get("parameters", {}))
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("id"), str)
    )


def is_enabled(metric: Mapping[str, Any]) -> bool:
    """Tell whether `metric` is enabled; it is if it does not say."""
    value = metric.get("enable", metric.get("enabled", True))
    return value is not False and value != "false"


def metric_of(item: Mapping[str, Any]) -> str:
    """Return the metric that an output item or a log's row names, or ""."""
    key = key_in(item, METRIC)
    value = item[key] if key else ""
    return value if isinstance(value, str) else ""


def same(one: Any, other: Any) -> bool:
    """Tell whether two decoded JSON values are equal: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
