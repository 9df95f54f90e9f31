"""`harpia-formats diff`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Columns,
    Delimiter,
    Exclude,
    FirstInput,
    FromCsvSafe,
    Model,
    Quiet,
    Redact,
    ReportOption,
    SecondInput,
    ShowProgress,
)
from harpia_formats.cli.options.conversion import (
    LeftFormat,
    OnInvalidPair,
    RightFormat,
)
from harpia_formats.cli.options.values import column_map
from harpia_formats.cli.output.difference_lines import print_differences
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import write_stderr
from harpia_formats.conversion.comparison.diff import Comparison
from harpia_formats.conversion.comparison.report import DifferenceReport
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.reporters.reporter import Options as ReportOptions


def diff(  # noqa: PLR0913 - one parameter for each option of the command
    left: FirstInput,
    right: SecondInput,
    *,
    from_: LeftFormat = None,
    to: RightFormat = None,
    exclude: Exclude = None,
    columns: Columns = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    model: Model = None,
    on_invalid: OnInvalidPair = OnInvalid.FAIL,
    report: ReportOption = None,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Compare two data sets of any formats, record by record.

    Records are matched by their ids, or by their prompts if one side has no ids;
    their order does not matter. Fields that one of the two formats cannot hold
    are not compared.

    Exit codes:
    - 0: no difference
    - 1: a difference, or an invalid record
    - 2: something could not be read or done
    - 3: a bug in harpia-formats
    """
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=(left, right),
        exclude=exclude,
    )
    options = ConvertOptions(
        from_=from_,
        exclude=tuple(exclude or ()),
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        model=model,
        on_invalid=on_invalid,
        redact=redact,
        progress=progress.update,
    )
    reports = ReportFiles(report, DifferenceReport, [left, right])
    run = Comparison([left], [right], options, to)
    print_problems(reports.keeping(run), progress)
    found = run.report()
    if run.left_out and not quiet:
        names = ", ".join(run.left_out)
        write_stderr(
            f"not compared, since one of the formats cannot hold it: {names}\n"
        )
    code = print_differences(found, f"matched by {run.matched_by}", quiet=quiet)
    reports.write(found, ReportOptions())
    return code
