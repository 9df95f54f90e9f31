"""`harpia-formats diff`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.difference_lines import print_differences
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import write_stderr
from harpia_formats.conversion.comparison.diff import Comparison
from harpia_formats.conversion.comparison.report import DifferenceReport
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.reporters.reporter import Options as ReportOptions


def diff(given: Given) -> ExitCode:
    """Compare two data sets of any formats, record by record.

    Records are matched by their ids, or by their prompts if one side has no ids;
    their order does not matter. Fields that one of the two formats cannot hold
    are not compared.

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
