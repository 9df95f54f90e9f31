"""The header of an input, around its instances: its metrics and unknown keys."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from harpia_converters.harpia.keys import METRICS
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Header

_vendor = "harpia"
_metrics = METRICS[0]
#: The array of instances, which is no part of a header.
_instances = "instances"


def read_header(document: Row) -> Header:
    """Return the header of an input, given as `document` without its instances."""
    name = next(_names_of_metrics(document), "")
    rest = {key: value for key, value in document.items() if key != name}
    return Header(
        metrics=document[name] if name else UNSET,
        extra={_vendor: rest} if rest else UNSET,
    )


def _names_of_metrics(document: Row) -> Iterator[str]:
    """Yield each key of `document` that holds metrics, the documented one first."""
    for wanted in METRICS:
        for key, value in document.items():
            if key.casefold() == wanted and _are_metrics(value):
                yield key


def _are_metrics(value: Any) -> bool:
    return type(value) is list and all(map(_is_metric, value))


def _is_metric(item: Any) -> bool:
    """Tell whether `item` is a metric that the schema allows."""
    return (
        type(item) is dict
        and type(item.get("id")) is str
        and all(_is_switch(item.get(key, True)) for key in ("enable", "enabled"))
        and type(item.get("parameters", {})) in {dict, list}
    )


def _is_switch(value: Any) -> bool:
    """Tell whether `value` is a boolean, or the text of one."""
    return type(value) is bool or value in ("true", "false")


def write_header(header: Header, fates: FieldFates) -> Row:
    """Return the members of an input beside its instances; losses go to `fates`."""
    row: Row = {}
    if header.metrics is not UNSET:
        row[_metrics] = [metric for metric in header.metrics if _is_metric(metric)]
        if len(row[_metrics]) < len(header.metrics):
            fates.changed("header.metrics", "without those that have no `id`")
    for vendor, kept in ({} if header.extra is UNSET else header.extra).items():
        if vendor == _vendor:
            _put_back(kept, row, fates)
        else:
            fates.dropped(f"header.extra.{vendor}")
    return row


def _put_back(kept: Row, row: Row, fates: FieldFates) -> None:
    """Put kept members into `row`, except those that would be read as another field."""
    for key, value in kept.items():
        is_list_of_metrics = key.casefold() in METRICS and _are_metrics(value)
        is_read = is_list_of_metrics and _metrics not in row
        if key in row or key == _instances or is_read:
            fates.dropped(f"header.extra.{_vendor}.{key}", "the key is taken")
        else:
            row[key] = value
