"""Note which values of rows are NaN or Infinity in the file, and were read as null."""

import json
from collections.abc import Iterator
from typing import Any

from harpia_formats.files.framing.chunk import NullRows, masked, with_nulls
from harpia_formats.files.framing.columns import decoded_or_none
from harpia_formats.formats.rules.json_rules import READ_AS_NULL
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.root_causes import Finding, find_json_fault
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.row_checks import Verdict


class _Constant(str):
    """The text of a NaN or an Infinity, which no decoded string is."""

    __slots__ = ()


_decode = json.JSONDecoder(parse_constant=_Constant).decode


def note_constants(rows: NullRows, verdict: Verdict, collector: Collector) -> None:
    """Add the constants of rows to the findings on them, which come in order."""
    found = {}
    for number, (text, with_null) in enumerate(zip(rows.texts, rows.rows, strict=True)):
        if text != with_null:
            found[number] = text
    findings = [
        _as_in_file(finding, found[finding.row]) if finding.row in found else finding
        for finding in verdict.findings
    ]
    if READ_AS_NULL in collector.rules:
        for number, text in found.items():
            findings += _notes(number, text)
        findings.sort(key=lambda finding: finding.row)
    verdict.findings = findings


def with_constants(
    text: bytes, findings: list[Finding], collector: Collector
) -> list[Finding]:
    """Return the findings on a document, and its constants."""
    found = [_as_in_file(finding, text) for finding in findings]
    if READ_AS_NULL in collector.rules:
        found += _notes(0, text)
    return found


def _as_in_file(finding: Finding, text: bytes) -> Finding:
    """Return a finding on a row whose text in the file is `text`, with its place there.

    A path is the same in the row with nulls; a fault has an offset.
    """
    if not finding.is_fault:
        return finding
    return find_json_fault(finding.row, masked(text)) or finding


def _notes(row: int, text: bytes) -> Iterator[Finding]:
    """Yield a note on each constant in the text of a row."""
    try:
        value = _decode(text.decode())
    except (ValueError, RecursionError):  # it has a fault, which is reported
        return
    decoded = decoded_or_none(with_nulls(text))
    for path, constant in _constants(value, ()):
        message = f"{constant} is no number in JSON; it is read as null"
        yield Finding(READ_AS_NULL, row, Remark(READ_AS_NULL, path, message), decoded)


def _constants(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each constant in a decoded value."""
    if type(value) is _Constant:
        yield path, str(value)
    elif type(value) is dict:
        for key, member in value.items():
            yield from _constants(member, (*path, key))
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _constants(item, (*path, index))
