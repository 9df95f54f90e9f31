"""The report of a comparison without the values of records."""

from dataclasses import replace
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.comparison.differences import Difference
from harpia_formats.conversion.comparison.report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.model.text.describe import hidden_value
from harpia_formats.validation.redaction.reports import Redaction

_REASON = "cannot be converted"


def differences_shown(
    found: DifferenceReport, redaction: Redaction | None
) -> DifferenceReport:
    """Return differences as they may be shown; all if `redaction` is None.

    Of values it is the types and lengths, and keys that no schema names are `*`. Fields
    that then have the same path share their counts, and why a record cannot be
    converted is not told.
    """
    if redaction is None:
        return found
    fields: dict[str, FieldDifferences] = {}
    for key, line in found.fields.items():
        path = shown_path(line.path, redaction)
        kind = f"{path} {bool(line.reason)}" if line.reason else path
        known = fields.get(kind)
        if known is not None:
            known.count += line.count
            continue
        example = line.example
        if example is not None:
            inner = path if example.path == line.path else example.path
            left, right = _shown(example.left), _shown(example.right)
            example = Difference(inner, left, right)
        fields[kind] = replace(
            line,
            path=path,
            example=example,
            place=line.place and redaction.place(line.place),
            reason=_REASON if line.reason else "",
        )
        # An id that several rows would have is no record that cannot be converted.
        if line.reason and key.startswith("id ") and line.reason in key:
            fields[kind].reason = "is not the id of one row"
    report = found.report
    if report is not None:
        report = redaction.report(report)
    reports = tuple(map(redaction.report, found.reports))
    return replace(found, fields=fields, report=report, reports=reports)


def shown_path(path: str, redaction: Redaction) -> str:
    """Return the path of a field with `*` for keys that no schema names."""
    alone = ("only in the first", "only in the second")
    return path if path in alone else redaction.words.field(path)


def _shown(value: Any) -> Any:
    if value is UNSET:
        return UNSET
    if isinstance(value, (tuple, list)):
        return hidden_value(list(value))
    return hidden_value(value)
