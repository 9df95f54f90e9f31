"""`harpia-formats schema check`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Exclude,
    Quiet,
    ReportOption,
    SchemaPaths,
    ShowProgress,
)
from harpia_formats.cli.options.validation import (
    ErrorOnWarning,
    Examples,
    ExitZero,
    Ignore,
    Lint,
    MaxProblems,
    OutputFormat,
    Select,
    Statistics,
)
from harpia_formats.cli.options.values import comma_separated
from harpia_formats.cli.output.problems import print_failures, print_unmatched
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report import (
    report_exit_code,
    report_options,
    write_report,
)
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.model.report import Report
from harpia_formats.validation.schema_check import SchemaCheck, SchemaCheckOptions


def schema_check(  # noqa: PLR0913 - a parameter for each option
    paths: SchemaPaths,
    *,
    select: Select = None,
    ignore: Ignore = None,
    lint: Lint = False,
    exclude: Exclude = None,
    output_format: OutputFormat = None,
    report: ReportOption = None,
    examples: Examples = 5,
    max_problems: MaxProblems = 1000,
    statistics: Statistics = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
    error_on_warning: ErrorOnWarning = False,
    exit_zero: ExitZero = False,
) -> ExitCode:
    """Find mistakes in JSON Schemas that validators do not report.

    Each file is one schema, in the draft that its $schema names; draft-07 without
    one. Findings go to standard output, everything else to standard error.

    Exit codes:
    - 0: no errors
    - 1: errors
    - 2: something could not be read or done
    - 3: a bug in harpia-formats
    """
    options = SchemaCheckOptions(
        select=comma_separated(select),
        ignore=comma_separated(ignore),
        lint=lint,
        examples=examples,
        max_problems=max_problems,
        exclude=tuple(exclude or ()),
    )
    reports = ReportFiles(report, Report, paths)
    check = SchemaCheck(paths, options)
    with Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths,
        exclude=exclude,
    ) as progress:
        found = write_report(
            reports.keeping(check),
            check.report,
            progress,
            output_format,
            statistics=statistics,
            quiet=quiet,
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
        )
    print_failures(found.failures)
    print_unmatched(found.unmatched)
    reports.write(
        found,
        report_options(
            statistics=statistics,
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
        ),
    )
    return report_exit_code(
        found, error_on_warning=error_on_warning, exit_zero=exit_zero
    )
