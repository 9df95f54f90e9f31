"""`harpia-formats roundtrip`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.difference_lines import print_differences
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.conversion.comparison.report import DifferenceReport
from harpia_formats.conversion.comparison.round_trip import RoundTrip
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.reporters.reporter import Options as ReportOptions


def roundtrip(given: Given) -> ExitCode:
    """Convert files into another format and back, and show what does not come back.

    Nothing is written. `--set` also sets fields that are lost on the way there.

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
