"""Check an output or a log against the input that it was made from (H201-H206)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_converters.harpia.detection import KEYED, sign_of
from harpia_converters.harpia.keys import METRIC, key_in
from harpia_converters.harpia.metrics import Metric, metric_of, metrics_of, same
from harpia_formats.model.format import Companion, FileSummary, Remark
from harpia_formats.model.problem import Path

NO_OUTPUT, DISABLED, UNKNOWN_METRIC = "H201", "H202", "H203"
PARAMETERS, UNKNOWN_INSTANCE, REPEATED = "H204", "H205", "H206"

#: The member of a log's row that holds the id of an instance.
INSTANCE = "instance_id"


def output_remarks(
    metrics: Iterable[Metric], item: Mapping[str, Any], key: str = ""
) -> Iterator[Remark]:
    """Yield a remark if an output item or a log's row contradicts the `metrics`.

    `key` is the metric's name if the item stands under it. An item that names no
    metric is not compared.
    """
    name = key or metric_of(item)
    named = [metric for metric in metrics if metric.id == name]
    parameters = item.get("parameters", {})
    equal = [metric for metric in named if same(metric.parameters, parameters)]
    path: Path = () if key else (key_in(item, METRIC),)
    if name and not named:
        yield _unknown(path)
    elif any(metric.enabled for metric in equal):
        return
    elif equal or (named and not any(metric.enabled for metric in named)):
        yield _disabled(path)
    elif named:
        yield _other_parameters(("parameters",) if "parameters" in item else ())


def missing(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield the id of each enabled metric that is missing in `seen_ids`."""
    seen = Counter(seen_ids)
    for metric in metrics:
        if metric.enabled:
            if not seen[metric.id]:
                yield metric.id
            seen[metric.id] -= bool(seen[metric.id])


def repeated(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield each id that is more often in `seen_ids` than among the input's metrics."""
    asked = Counter(metric.id for metric in metrics)
    seen = Counter(seen_ids)
    yield from (name for name in asked if seen[name] > asked[name])


def missing_remark(metric: str) -> Remark:
    """Return the remark on an output that lacks an enabled metric."""
    return Remark(
        NO_OUTPUT,
        (),
        f"the output lacks the metric {_shown(metric)}, which the input enables",
        "run the evaluation again, or disable the metric in the input",
    )


def repeated_remark(metric: str) -> Remark:
    """Return the remark on an output that has a metric more often than the input."""
    return Remark(
        REPEATED,
        (),
        f"there are more outputs of {_shown(metric)} than the input has metrics of it",
        "keep the output of one run",
    )


def unknown_instance_remark() -> Remark:
    """Return the remark on a log's row whose instance is not in the input."""
    return Remark(
        UNKNOWN_INSTANCE,
        (INSTANCE,),
        "no instance of the input has this id",
        "check against the input that the log was made from",
    )


def _shown(metric: str) -> str:
    """Return a metric's id as short JSON text."""
    from harpia_formats.model.text.describe import short_json  # noqa: PLC0415 - start-up: needed for messages only

    return short_json(metric)


def _unknown(path: Path) -> Remark:
    return Remark(
        UNKNOWN_METRIC,
        path,
        "the input has no metric with this id",
        "check against the input that the file was made from",
    )


def _disabled(path: Path) -> Remark:
    return Remark(
        DISABLED,
        path,
        "the input has this metric disabled",
        "enable it in the input, or give the input that the file was made from",
    )


def _other_parameters(path: Path) -> Remark:
    return Remark(
        PARAMETERS,
        path,
        "the parameters differ from those of the metric in the input",
        "check against the input that the file was made from",
    )


#: The metrics of an input, None if it has no list of metrics.
_Metrics = tuple[Metric, ...] | None


def _expected(header: Mapping[str, Any]) -> _Metrics:
    return metrics_of(header) if {"metrics", "metricas"} & header.keys() else None


def _output_record_remarks(
    metrics: _Metrics, record: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield the remarks on a record of an output: of one metric, or of all by name."""
    if metrics is None:
        return
    if not sign_of(record, KEYED):
        yield from output_remarks(metrics, record)
        return
    for key, output in record.items():
        if isinstance(output, Mapping):
            for remark in output_remarks(metrics, output, key):
                path = (key, *remark.path)
                yield Remark(remark.code, path, remark.message, remark.help)


def _log_record_remarks(
    metrics: _Metrics, record: Mapping[str, Any]
) -> Iterator[Remark]:
    if metrics is not None:
        yield from output_remarks(metrics, record)


def _names(record: Mapping[str, Any]) -> tuple[str, ...]:
    if sign_of(record, KEYED):
        return tuple(record)
    name = metric_of(record)
    return (name,) if name else ()


def _closing(metrics: _Metrics, seen: FileSummary) -> Iterator[Remark]:
    if metrics is not None:
        yield from map(missing_remark, missing(metrics, seen.names))
        yield from map(repeated_remark, repeated(metrics, seen.names))


def _nothing(metrics: _Metrics, seen: FileSummary) -> Iterator[Remark]:  # noqa: ARG001 - the signature of `Companion.closing`
    yield from ()


#: How an output is checked: it has one object for each enabled metric.
OUTPUT = Companion(
    format="harpia",
    expect=_expected,
    remarks=_output_record_remarks,
    closing=_closing,
    names=_names,
    counts_names=True,
)
#: How a log is checked: its rows are of enabled metrics and known instances. Not every
#: metric writes a log, so none can be missing.
LOG = Companion(
    format="harpia",
    expect=_expected,
    remarks=_log_record_remarks,
    closing=_nothing,
    refers_by=INSTANCE,
    no_such_record=unknown_instance_remark,
)
