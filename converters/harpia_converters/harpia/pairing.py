"""How an output and a log are checked against the input that they were made from."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.harpia.companion import (
    INSTANCE,
    Metric,
    metric_of,
    metrics_of,
    missing,
    missing_remark,
    output_remarks,
    repeated,
    repeated_remark,
    unknown_instance_remark,
)
from harpia_converters.harpia.detection import KEYED, sign_of
from harpia_formats.model.format import Companion, FileSummary, Remark

#: The metrics of an input, None if it says nothing of metrics.
_Metrics = tuple[Metric, ...] | None


def _expected(header: Mapping[str, Any]) -> _Metrics:
    return metrics_of(header) if {"metrics", "metricas"} & header.keys() else None


def _of_output(metrics: _Metrics, record: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield where a record of an output disagrees, of one metric or of all by name."""
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


def _of_log(metrics: _Metrics, record: Mapping[str, Any]) -> Iterator[Remark]:
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


def _nothing(metrics: _Metrics, seen: FileSummary) -> Iterator[Remark]:  # noqa: ARG001 - the shape of `Companion.closing`
    yield from ()


#: One output object for each enabled metric.
OUTPUT = Companion(
    format="harpia",
    expect=_expected,
    remarks=_of_output,
    closing=_closing,
    names=_names,
    counts_names=True,
)
#: Rows of enabled metrics on known instances; not every metric writes a log.
LOG = Companion(
    format="harpia",
    expect=_expected,
    remarks=_of_log,
    closing=_nothing,
    refers_by=INSTANCE,
    no_such_record=unknown_instance_remark,
)
