"""`harpia-formats stats`."""

import sys

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.options.common import (
    ClusterTimeout,
    ColumnsOrKeys,
    Delimiter,
    Engine,
    Exclude,
    FromCsvSafe,
    InputFormat,
    Jobs,
    MaxRowBytes,
    MinRecords,
    Paths,
    Quiet,
    ReadWith,
    Redact,
    ReportOption,
    ShowProgress,
    SkipInvalid,
    SkipUnrecognised,
)
from harpia_formats.cli.options.statistics import JSON, TEXT, StatsFormat, Top
from harpia_formats.cli.options.validation import Limit
from harpia_formats.cli.options.values import column_map
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.statistics_text import statistics_lines
from harpia_formats.cli.output.streams import (
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.statistics.options import TOP, StatsOptions
from harpia_formats.evaluation.statistics.result import Statistics
from harpia_formats.evaluation.statistics.run import StatisticsRun
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.model.text.json_text import json_text
from harpia_formats.reporters.reporter import Options as ReportOptions


def stats(  # noqa: PLR0913 - a parameter for each option, which also makes it long
    paths: Paths = None,
    *,
    output_format: StatsFormat = TEXT,
    top: Top = TOP,
    limit: Limit = None,
    from_: InputFormat = None,
    exclude: Exclude = None,
    skip_unrecognised: SkipUnrecognised = False,
    min_records: MinRecords = 0,
    companion: ReadWith = None,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    skip_invalid: SkipInvalid = False,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    jobs: Jobs = 0,
    engine: Engine = None,
    cluster_timeout: ClusterTimeout = CLUSTER_TIMEOUT,
    redact: Redact = False,
    report: ReportOption = None,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Count what a data set holds: lengths, missing fields, models, duplicates.

    All files together give one table. A word is a run of characters between
    white space; in scripts without spaces, such as Chinese, each character is
    a word.

    Exit codes:
    - 0: counted
    - 1: a row is not valid and not skipped
    - 2: something could not be read
    - 3: a bug in harpia-formats
    """
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths or (),
        exclude=exclude,
    )
    options = StatsOptions(
        from_=from_,
        top=top,
        limit=limit,
        exclude=tuple(exclude or ()),
        skip_unrecognised=skip_unrecognised,
        min_records=min_records,
        companion=companion,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        on_invalid="skip" if skip_invalid else "fail",
        redact=redact,
        max_row_bytes=max_row_bytes,
        jobs=jobs,
        engine=engine,
        cluster_timeout=cluster_timeout,
        progress=progress.update,
    )
    reports = ReportFiles(report, Statistics, [*(paths or ()), companion])
    run = StatisticsRun(paths or ["-"], options)
    print_problems(reports.keeping(run), progress)
    found = run.statistics()
    code = _print_statistics(found, output_format)
    reports.write(found, ReportOptions())
    return code


def _print_statistics(found: Statistics, output_format: str) -> ExitCode:
    """Print the statistics, or why there are none; return the exit code."""
    print_unread(found.report)
    if not found.is_broken:
        write = text_writer(sys.stdout)
        if output_format == JSON:
            write(shown_data(json_text(found.to_dict(), indent=True)) + "\n")
        else:
            write("".join(f"{line}\n" for line in statistics_lines(found)))
        print_notes(found.notes)
    elif found.report.lacks_records:
        write_stderr("no statistics: there are too few records\n")
    elif any(file.invalid for file in found.report.files):
        write_stderr(
            "no statistics: some rows are not valid; --skip-invalid skips them\n"
        )
    elif not found.report.failures:
        write_stderr("no statistics: see above\n")
    return exit_code_of(found.report, ok=found.ok)
