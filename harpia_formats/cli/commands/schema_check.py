"""`harpia-formats schema check`."""

from dataclasses import replace

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.problems import print_failures, print_unmatched
from harpia_formats.cli.output.report import (
    Printing,
    report_exit_code,
    report_options,
)
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.model.report import Report
from harpia_formats.validation.schema_check import SchemaCheck, SchemaCheckOptions


def schema_check(given: Given) -> ExitCode:
    """Find mistakes in JSON Schemas that validators do not report.

    Each file is one schema, in the draft that its $schema names; draft-07 without
    one. Findings go to standard output, everything else to standard error.

    Exit codes:
    - 0: no errors
    - 1: errors
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats schema check mine.json
    - harpia-formats schema check schemas --select S4
    - harpia-formats schema check mine.json --output-format json
    """
    options = given.options(SchemaCheckOptions)
    reports = ReportFiles(given.report, Report, given.paths)
    check = SchemaCheck(given.paths, options)
    shown = report_options(
        statistics=given.statistics,
        quiet=given.quiet,
        error_on_warning=given.error_on_warning,
        exit_zero=given.exit_zero,
    )
    with given.progress(given.paths) as progress:
        printing = Printing(progress, given.output_format, shown)
        problems = printing.problems(reports.keeping(check))
        printing.reporter.write(
            problems, check.report, printing.write, printing.options
        )
        found = check.report()
        printing.end(found)
    print_failures(found.failures)
    print_unmatched(found.unmatched)
    reports.write(found, replace(shown, quiet=False))
    return report_exit_code(
        found, error_on_warning=given.error_on_warning, exit_zero=given.exit_zero
    )
