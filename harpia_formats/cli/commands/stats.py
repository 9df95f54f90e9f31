"""`harpia-formats stats`."""

import sys

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.statistics_text import statistics_lines
from harpia_formats.cli.output.streams import (
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.statistics.options import StatsOptions
from harpia_formats.evaluation.statistics.result import Statistics
from harpia_formats.evaluation.statistics.run import StatisticsRun
from harpia_formats.model.text.json_text import json_text
from harpia_formats.reporters.reporter import Options as ReportOptions


def stats(given: Given) -> ExitCode:
    """Count what a data set holds: lengths, missing fields, models, duplicates.

    All files together give one table. A word is a run of characters between
    white space; in scripts without spaces, such as Chinese, each character is
    a word.

    Exit codes:
    - 0: counted
    - 1: a row is not valid and not skipped
    - 2: something could not be read
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats stats answers.jsonl
    - harpia-formats stats data --top 20
    - harpia-formats stats rows.csv --output-format json
    """
    progress = given.progress(given.paths)
    options = given.options(
        StatsOptions,
        progress=progress.update,
    )
    reports = ReportFiles(given.report, Statistics, [*given.paths, given.companion])
    run = StatisticsRun(given.paths or ["-"], options)
    print_problems(reports.keeping(run), progress)
    found = run.statistics()
    code = _print_statistics(found, given.output_format)
    reports.write(found, ReportOptions())
    return code


def _print_statistics(found: Statistics, output_format: str) -> ExitCode:
    """Print the statistics, or why there are none; return the exit code."""
    print_unread(found.report)
    if not found.is_broken:
        write = text_writer(sys.stdout)
        if output_format == "json":
            write(shown_data(json_text(found.to_dict(), indent=True)) + "\n")
        else:
            write("".join(f"{line}\n" for line in statistics_lines(found)))
        print_notes(found.notes)
    elif found.report.lacks_records:
        write_stderr("no statistics: there are too few records\n")
    elif any(file.invalid for file in found.report.files):
        write_stderr(
            "no statistics: some rows are not valid; --on-invalid skip "
            "leaves them out\n"
        )
    elif not found.report.failures:
        write_stderr("no statistics: see above\n")
    return exit_code_of(found.report, ok=found.ok)
