"""An input and its output or log: where they disagree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.harpia.keys import METRIC, key_in
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

NO_OUTPUT, DISABLED, UNKNOWN_METRIC = "H201", "H202", "H203"
PARAMETERS, UNKNOWN_INSTANCE, REPEATED = "H204", "H205", "H206"

#: The member of a log's row that holds the id of an instance.
INSTANCE = "instance_id"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as an input asks for it."""

    id: str
    enabled: bool
    parameters: Any


def metrics_of(header: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return the metrics of an input, valid or not, without those that have no id."""
    items = header.get("metrics", header.get("metricas"))
    return tuple(
        Metric(item["id"], is_enabled(item), item.get("parameters", {}))
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("id"), str)
    )


def is_enabled(metric: Mapping[str, Any]) -> bool:
    """Tell whether an input asks for `metric` to be run; without a word it does."""
    value = metric.get("enable", metric.get("enabled", True))
    return value is not False and value != "false"


def metric_of(item: Mapping[str, Any]) -> str:
    """Return the metric that an output item or a log's row names, or ""."""
    key = key_in(item, METRIC)
    value = item[key] if key else ""
    return value if isinstance(value, str) else ""


def output_remarks(
    metrics: Iterable[Metric], item: Mapping[str, Any], key: str = ""
) -> Iterator[Remark]:
    """Yield where an output item or a log's row disagrees with the input's `metrics`.

    `key` is the metric's name where the item stands under it. An item that names no
    metric is not compared.
    """
    name = key or metric_of(item)
    named = [metric for metric in metrics if metric.id == name]
    alike = [metric for metric in named if _has_parameters(metric, item)]
    path: Path = () if key else (key_in(item, METRIC),)
    if name and not named:
        yield _unknown(path)
    elif any(metric.enabled for metric in alike):
        return
    elif alike or (named and not any(metric.enabled for metric in named)):
        yield _disabled(path)
    elif named:
        yield _other_parameters(("parameters",) if "parameters" in item else ())


def missing(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield the id of each metric that is enabled and has no output of its own."""
    seen = Counter(seen_ids)
    for metric in metrics:
        if metric.enabled:
            if not seen[metric.id]:
                yield metric.id
            seen[metric.id] -= bool(seen[metric.id])


def repeated(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield the id of each metric that has more outputs than the input has of it."""
    asked = Counter(metric.id for metric in metrics)
    seen = Counter(seen_ids)
    yield from (name for name in asked if seen[name] > asked[name])


def missing_remark(metric: str) -> Remark:
    """Return what is to be said of an output as a whole that lacks a metric."""
    return Remark(
        NO_OUTPUT,
        (),
        f"there is no output of {_shown(metric)}, which the input enables",
        "run the evaluation again, or disable the metric in the input",
    )


def repeated_remark(metric: str) -> Remark:
    """Return what is to be said of an output that has a metric too often."""
    return Remark(
        REPEATED,
        (),
        f"there are more outputs of {_shown(metric)} than the input has metrics of it",
        "keep the output of one run",
    )


def unknown_instance_remark() -> Remark:
    """Return what is to be said of a log's row whose instance the input has not."""
    return Remark(
        UNKNOWN_INSTANCE,
        (INSTANCE,),
        "no instance of the input has this id",
        "check the log against the input that it was made from",
    )


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


def _shown(metric: str) -> str:
    """Return a metric's id as short JSON text."""
    from harpia_formats.text.describe import short_json  # noqa: PLC0415 - for what disagrees only

    return short_json(metric)


def _has_parameters(metric: Metric, item: Mapping[str, Any]) -> bool:
    return same(metric.parameters, item.get("parameters", {}))


def _unknown(path: Path) -> Remark:
    return Remark(
        UNKNOWN_METRIC,
        path,
        "the input has no such metric",
        "check it against the input that it was made from",
    )


def _disabled(path: Path) -> Remark:
    return Remark(
        DISABLED,
        path,
        "the input has this metric disabled",
        "enable it in the input, or check against the input that it was made from",
    )


def _other_parameters(path: Path) -> Remark:
    return Remark(
        PARAMETERS,
        path,
        "the parameters are not those that the input gives the metric",
        "check against the input that it was made from",
    )
