"""`harpia-formats roundtrip`."""

from harpia_formats.cli.exit_codes import ExitCode
from harpia_formats.cli.options.common import (
    Columns,
    Constants,
    Delimiter,
    Exclude,
    FromCsvSafe,
    InputFormat,
    Model,
    Paths,
    Quiet,
    Redact,
    ReportOption,
    ShowProgress,
)
from harpia_formats.cli.options.conversion import (
    AnyFilter,
    AnyPrompt,
    AnyReferences,
    AnyResponses,
    AnyTurns,
    CorrectFrom,
    FillScores,
    KeepExtra,
    OneMetric,
    OnInvalidPair,
    Via,
)
from harpia_formats.cli.options.values import column_map, constants_by_field
from harpia_formats.cli.output.difference_lines import print_differences
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.conversion.comparison.report import DifferenceReport
from harpia_formats.conversion.comparison.round_trip import RoundTrip
from harpia_formats.conversion.mapping.choices import Prompt, References, Turns
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.reporters.reporter import Options as ReportOptions


def roundtrip(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Paths = None,
    *,
    via: Via,
    from_: InputFormat = None,
    exclude: Exclude = None,
    references: AnyReferences = References.FIRST,
    responses: AnyResponses = None,
    turns: AnyTurns = Turns.LAST,
    prompt: AnyPrompt = Prompt.QUESTION,
    model: Model = None,
    filter_: AnyFilter = None,
    metric: OneMetric = None,
    columns: Columns = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    constants: Constants = None,
    score: FillScores = None,
    correct_from: CorrectFrom = None,
    keep_extra: KeepExtra = False,
    on_invalid: OnInvalidPair = OnInvalid.FAIL,
    report: ReportOption = None,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Convert files into another format and back, and show what does not come back.

    Nothing is written. `--set` also sets fields that are lost on the way there.

    Exit codes:
    - 0: every record comes back as it was
    - 1: something differs, or is not valid
    - 2: something could not be read or done
    - 3: a bug in harpia-formats
    """
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths or (),
        exclude=exclude,
    )
    options = ConvertOptions(
        from_=from_,
        exclude=tuple(exclude or ()),
        references=references,
        responses=responses,
        turns=turns,
        prompt=prompt,
        model=model,
        filter=filter_,
        metric=metric,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        constants=constants_by_field(constants),
        score=score,
        filling_measure=filling_measure,
        correct_from=correct_from,
        keep_extra=keep_extra,
        on_invalid=on_invalid,
        redact=redact,
        progress=progress.update,
    )
    reports = ReportFiles(report, DifferenceReport, paths or ())
    run = RoundTrip(paths or ["-"], via, options)
    print_problems(reports.keeping(run), progress)
    found = run.report()
    code = print_differences(found, f"through {run.via}", quiet=quiet)
    reports.write(found, ReportOptions())
    return code
