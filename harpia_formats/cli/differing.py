"""What differs, in lines for standard output."""

import sys
from typing import Any

from msgspec import UNSET

from harpia_formats.cli.guard import FOUND, OK, UNABLE, complain, say, write_to
from harpia_formats.comparison.round_trip import DifferenceReport, FieldDifferences
from harpia_formats.model.exact_json import encode
from harpia_formats.reporters.text import position
from harpia_formats.text.sanitize import safe

#: Code points of a value, and of a line.
VALUE, SENTENCE = 150, 400


def print_differences(found: DifferenceReport, how: str, *, quiet: bool) -> int:
    """Print a line for each field that differs; return the exit code."""
    write = write_to(sys.stdout)
    for each in found.fields.values():
        write(_line(each) + "\n")
    sys.stdout.flush()
    report = found.report
    failures = report.failures if report is not None else ()
    for count in failures:
        complain(f"{count.path}: {count.reason}")
    if not quiet:
        say(_summary(found, how) + "\n")
    if failures:
        return UNABLE
    return OK if found.ok else FOUND


def _line(line: FieldDifferences) -> str:
    place, example = line.place, line.example
    start = position(place.path, place.line, place.column) if place else ""
    what = line.reason
    if example is not None:
        left, right = (_said(each) for each in (example.left, example.right))
        what = f"{left} became {right}" if example.path == line.path else left
    records = "record" if line.count == 1 else "records"
    return (
        f"{start}: {safe(line.path)}: {safe(what, SENTENCE)} ({line.count:,} {records})"
    )


def _said(value: Any) -> str:
    return "nothing" if value is UNSET else safe(encode(value).decode(), VALUE)


def _summary(found: DifferenceReport, how: str) -> str:
    parts = [f"{found.records:,} records {how}", f"{found.differing:,} differ"]
    if found.only_left or found.only_right:
        parts.append(f"{found.only_left:,} only in the first")
        parts.append(f"{found.only_right:,} only in the second")
    if found.skipped:
        parts.append(f"{found.skipped:,} not valid and left out")
    return ", ".join(parts)
