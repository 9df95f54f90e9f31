"""The differences between two data sets, as lines for standard output."""

import sys
from typing import Any

from msgspec import UNSET

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.output.problems import print_unread
from harpia_formats.cli.output.streams import text_writer, write_stderr
from harpia_formats.cli.output.terminal import fitted
from harpia_formats.conversion.comparison.report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.model.exact_json import encode
from harpia_formats.model.text.describe import HiddenValue
from harpia_formats.model.text.sanitize import safe
from harpia_formats.reporters.text import position

#: Code points of a value, and of a sentence.
_VALUE, _SENTENCE = 150, 400


def print_differences(found: DifferenceReport, how: str, *, quiet: bool) -> ExitCode:
    """Print a line for each field that differs; return the exit code.

    The summary on standard error, which `quiet` leaves out, says `how` the records
    were compared.
    """
    write = text_writer(sys.stdout)
    for line in fitted(map(_line, found.fields.values()), sys.stdout):
        write(line + "\n")
    sys.stdout.flush()
    reports = () if found.report is None else (found.report,)
    print_unread(*reports)
    if not quiet:
        write_stderr(_summary(found, how) + "\n")
    return exit_code_of(*reports, ok=found.ok)


def _line(changed: FieldDifferences) -> str:
    """Return where a field differs first, how, and in how many records."""
    place, example = changed.place, changed.example
    start = position(place.full_path, place.line, place.column) if place else ""
    what = changed.reason
    if example is not None:
        left, right = _value(example.left), _value(example.right)
        what = f"{left} became {right}" if example.path == changed.path else left
    records = "record" if changed.count == 1 else "records"
    return (
        f"{start}: {safe(changed.path)}: {safe(what, _SENTENCE)} "
        f"({changed.count:,} {records})"
    )


def _value(value: Any) -> str:
    """Return a value as JSON, or that there is none."""
    if isinstance(value, HiddenValue):
        return value.words
    return "nothing" if value is UNSET else safe(encode(value).decode(), _VALUE)


def _summary(found: DifferenceReport, how: str) -> str:
    """Return how many records were compared and differ, on one line."""
    parts = [f"{found.records:,} records {how}", f"{found.differing:,} differ"]
    if found.only_left or found.only_right:
        parts.append(f"{found.only_left:,} only in the first")
        parts.append(f"{found.only_right:,} only in the second")
    if found.skipped:
        parts.append(f"{found.skipped:,} not valid and left out")
    return ", ".join(parts)
