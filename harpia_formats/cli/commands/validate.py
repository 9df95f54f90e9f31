"""`harpia-formats validate`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.common import (
    ClusterTimeout,
    ConfigFile,
    CsvColumns,
    Delimiter,
    Engine,
    Exclude,
    FromCsvSafe,
    Isolated,
    Jobs,
    MaxRowBytes,
    MinRecords,
    Quiet,
    Redact,
    ReportOption,
    RequiredPaths,
    ShowProgress,
    SkipUnrecognised,
)
from harpia_formats.cli.options.given import Context, given_options, run_settings
from harpia_formats.cli.options.validation import (
    AllowNoFiles,
    AssertFormats,
    Baseline,
    Companion,
    CrossCheck,
    ErrorOnWarning,
    Examples,
    ExitZero,
    FailFast,
    Fix,
    FixedOutput,
    Format,
    Ignore,
    Limit,
    Lint,
    MaxProblems,
    OutputFormat,
    OverwriteFixed,
    RowTimeout,
    Schema,
    Select,
    ShowDiff,
    Statistics,
    Strict,
    UnsafeFixes,
    WriteBaseline,
)
from harpia_formats.cli.options.values import column_map, comma_separated
from harpia_formats.cli.output.problems import (
    print_baseline,
    print_failures,
    print_undetermined,
    print_unmatched,
    print_unused_settings,
)
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report import (
    report_exit_code,
    report_options,
    write_report,
)
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import write_stderr
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.model.report import Report
from harpia_formats.validation.options import ROW_TIMEOUT, Options
from harpia_formats.validation.run import Validation


def validate(  # noqa: PLR0913 - a parameter for each option, which also makes it long
    context: Context,
    paths: RequiredPaths,
    *,
    config: ConfigFile = None,
    isolated: Isolated = False,
    format_: Format = None,
    schema: Schema = None,
    strict: Strict = False,
    columns: CsvColumns = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    companion: Companion = None,
    assert_formats: AssertFormats = False,
    select: Select = None,
    ignore: Ignore = None,
    lint: Lint = False,
    cross_check: CrossCheck = False,
    limit: Limit = None,
    exclude: Exclude = None,
    skip_unrecognised: SkipUnrecognised = False,
    allow_no_files: AllowNoFiles = False,
    min_records: MinRecords = 0,
    fail_fast: FailFast = False,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    row_timeout: RowTimeout = ROW_TIMEOUT,
    jobs: Jobs = 0,
    engine: Engine = None,
    cluster_timeout: ClusterTimeout = CLUSTER_TIMEOUT,
    output_format: OutputFormat = None,
    report: ReportOption = None,
    examples: Examples = 5,
    max_problems: MaxProblems = 1000,
    statistics: Statistics = False,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    error_on_warning: ErrorOnWarning = False,
    exit_zero: ExitZero = False,
    fix: Fix = False,
    unsafe_fixes: UnsafeFixes = False,
    diff: ShowDiff = False,
    output: FixedOutput = None,
    overwrite: OverwriteFixed = False,
) -> ExitCode:
    """Check files against their format, and show where they break it and why.

    Findings go to standard output, everything else to standard error. With --fix the
    files are repaired first, and what is left is shown.

    Exit codes:
    - 0: no errors
    - 1: errors
    - 2: something could not be read or done
    - 3: a bug in harpia-formats
    """
    only_with_format = {"--format": format_, "--strict": strict, "--with": companion}
    _check_combination(schema, only_with_format, columns)
    given = given_options(context)
    settings = run_settings(config, isolated=isolated)
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths,
        exclude=exclude,
    )
    options = Options(
        format=format_ or (_mapped_format(paths) if columns else None),
        schema=schema,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        companion=companion,
        baseline=baseline,
        write_baseline=write_baseline,
        select=comma_separated(select),
        ignore=comma_separated(ignore),
        lint=lint,
        strict=strict,
        examples=examples,
        max_problems=max_problems,
        fail_fast=fail_fast,
        limit=limit,
        redact=redact,
        exclude=tuple(exclude or ()),
        skip_unrecognised=skip_unrecognised,
        allow_no_files=allow_no_files,
        min_records=min_records,
        assert_formats=assert_formats,
        cross_check=cross_check,
        max_row_bytes=max_row_bytes,
        row_timeout=row_timeout,
        jobs=jobs,
        engine=engine,
        cluster_timeout=cluster_timeout,
        progress=progress.update,
    )
    reports = ReportFiles(
        settings.paths("report", report, given),
        Report,
        [*paths, output, schema, companion, baseline, write_baseline, config],
    )
    output_format = settings.value("output-format", output_format, given)
    options = replace(options, row_lengths=reports.show_lengths(output_format))
    options = settings.apply(options, given)
    inputs: Sequence[Input] = paths
    is_unable = False
    if diff:
        _check_diff(given)
    if fix or unsafe_fixes or diff:
        from harpia_formats.cli.run_fix import fix_files  # noqa: PLC0415 - only for repairs: start-up time
        from harpia_formats.validation.repair.options import FixOptions  # noqa: PLC0415 - only for repairs: start-up time

        wanted = FixOptions(
            unsafe=unsafe_fixes, diff=diff, output=output, overwrite=overwrite
        )
        done = fix_files(
            paths,
            options,
            wanted,
            progress,
            quiet=quiet,
            file_options=settings.file_options,
        )
        inputs, is_unable = done.inputs, done.is_failed
        if diff or not inputs:
            code = ExitCode.FOUND if done.changes and not exit_zero else ExitCode.OK
            return ExitCode.UNABLE if is_unable else code
    elif output is not None or overwrite:
        raise UsageError("--output and --overwrite are for repairs; add --fix")
    run = Validation(inputs, options, settings.file_options, reports.paths)
    statistics = settings.value("statistics", statistics, given)
    error_on_warning = settings.value("error-on-warning", error_on_warning, given)
    with progress:
        found = write_report(
            reports.keeping(run),
            run.report,
            progress,
            output_format,
            statistics=statistics,
            quiet=quiet,
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
            folds_equal=settings.value("examples", examples, given) > 0,
        )
        if statistics:
            # Not part of the report, which is the same for any number of workers.
            write_stderr("".join(f"{line}\n" for line in run.redone.lines()))
    print_failures(found.failures)
    print_undetermined(found)
    print_unmatched(found.unmatched)
    print_baseline(
        found.baseline, write_baseline, run.baseline.total, run.baseline.unheld
    )
    print_unused_settings(settings.unused)
    is_accepted = write_baseline and not baseline and not run.baseline.unheld
    exit_zero = exit_zero or bool(is_accepted)
    code = report_exit_code(
        found, error_on_warning=error_on_warning, exit_zero=exit_zero
    )
    reports.write(
        found,
        report_options(
            statistics=statistics,
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
        ),
    )
    return max(code, ExitCode.UNABLE) if is_unable else code


def _mapped_format(paths: Sequence[str]) -> str:
    """Return the format whose columns or keys are mapped in files."""
    from harpia_formats.formats.detection.mapped_format import require_mapped_format  # noqa: PLC0415 - only for a map: start-up time

    return require_mapped_format(paths)


#: What is about the report of a validation, which does not follow a diff.
_of_report = (
    "output-format",
    "report",
    "write-baseline",
    "min-records",
    "statistics",
    "error-on-warning",
)


def _check_diff(given: frozenset[str]) -> None:
    """Raise `UsageError` if --diff is `given` with an option that it does not use."""
    for name in _of_report:
        if name in given:
            raise UsageError(
                f"--diff and --{name} cannot be combined: a diff is shown in the place "
                "of the report; leave out one of them"
            )


def _check_combination(
    schema: Path | None, only_with_format: dict[str, Any], columns: list[str] | None
) -> None:
    """Raise `UsageError` if options name two things to validate against.

    `only_with_format` holds the values of the options that need a format.
    """
    for name, value in only_with_format.items():
        if schema is not None and value is not None and value is not False:
            raise UsageError(
                f"--schema and {name} cannot be combined: a file is validated against "
                "a schema or a format; leave out one of them"
            )
    if columns and schema is not None:
        raise UsageError(
            "--schema and --map cannot be combined: a map names the fields of a "
            "format; leave out one of them"
        )
