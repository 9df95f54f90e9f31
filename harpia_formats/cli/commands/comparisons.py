"""`harpia-formats diff` and `roundtrip`: the differences of data sets."""

import sys
from typing import Any

from msgspec import UNSET

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems, print_unread
from harpia_formats.cli.report import ReportFiles
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    exit_code_of,
    fitted,
    text_writer,
    write_stderr,
)
from harpia_formats.conversion.comparison.comparison_report import (
    DifferenceReport,
    FieldDifferences,
)
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.model.describe import HiddenValue
from harpia_formats.model.exact_json import encode
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.phrases import position
from harpia_formats.reporters.reporter import Options as ReportOptions

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
    records = "record" if found.records == 1 else "records"
    parts = [f"{found.records:,} {records} {how}", f"{found.differing:,} differ"]
    if found.only_left or found.only_right:
        parts.append(f"{found.only_left:,} only in the first")
        parts.append(f"{found.only_right:,} only in the second")
    if found.skipped:
        parts.append(f"{found.skipped:,} not valid and left out")
    return found.summary(parts)


def diff(given: Given) -> ExitCode:
    """Compare two data sets of any formats, record by record.

    Records are matched by their ids, or by their prompts if one side has no ids;
    their order does not matter. Of several with one id, equal ones are matched
    first. Fields that one of the two formats cannot hold are not compared.

    Exit codes:
    - 0: no difference
    - 1: a difference, or an invalid record
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats diff old.jsonl new.json
    - harpia-formats diff a.csv b.jsonl --map prompt=question
    - harpia-formats diff a.json b.json --report report.html
    """
    from harpia_formats.conversion.comparison.diff import Comparison  # noqa: PLC0415 - for this command only

    progress = given.progress((given.left, given.right))
    options = given.options(ConvertOptions, progress=progress.update)
    reports = ReportFiles(given.report, DifferenceReport, [given.left, given.right])
    run = Comparison([given.left], [given.right], options, given.to)
    print_problems(reports.keeping(run), progress)
    found = run.report()
    if run.left_out and not given.quiet:
        names = ", ".join(run.left_out)
        write_stderr(
            f"not compared, since one of the formats cannot hold it: {names}\n"
        )
    code = print_differences(found, f"matched by {run.matched_by}", quiet=given.quiet)
    reports.write(found, ReportOptions())
    return code


def roundtrip(given: Given) -> ExitCode:
    """Convert files into another format and back, and show what does not come back.

    Nothing is written. Options count for both conversions. On the way back, rows that
    became several are joined as by `--group id`, and lists of answers stay lists as by
    `--responses list`. `--set` also sets fields that are lost on the way there.

    Exit codes:
    - 0: every record comes back as it was
    - 1: something differs, or is not valid
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats roundtrip answers.jsonl --via nemo
    - harpia-formats roundtrip rows.csv --from csv --via haystack --quiet
    - harpia-formats roundtrip logs --via eee --report report.json
    """
    from harpia_formats.conversion.comparison.round_trip import RoundTrip  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.filling_measure import filling_measure  # noqa: PLC0415 - for this command only

    progress = given.progress(given.paths)
    options = given.options(
        ConvertOptions, filling_measure=filling_measure, progress=progress.update
    )
    reports = ReportFiles(given.report, DifferenceReport, given.paths)
    run = RoundTrip(given.paths or ["-"], given.via, options)
    print_problems(reports.keeping(run), progress)
    found = run.report()
    code = print_differences(found, f"through {run.via}", quiet=given.quiet)
    reports.write(found, ReportOptions())
    return code
