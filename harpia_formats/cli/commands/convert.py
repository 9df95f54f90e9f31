"""`harpia-formats convert`."""

import sys
from collections.abc import Iterable

from harpia_formats.cli.exit_codes import ExitCode, UsageError, exit_code_of
from harpia_formats.cli.options.common import (
    ClusterTimeout,
    ColumnsOrKeys,
    Constants,
    CsvSafe,
    Delimiter,
    Engine,
    Exclude,
    FromCsvSafe,
    InputFormat,
    Jobs,
    MaxRowBytes,
    MinRecords,
    Model,
    Overwrite,
    Paths,
    Quiet,
    ReadWith,
    Redact,
    ReportOption,
    ShowProgress,
    SkipUnrecognised,
)
from harpia_formats.cli.options.conversion import (
    AnyFilter,
    AnyPrompt,
    AnyReferences,
    AnyResponses,
    AnyTarget,
    AnyTurns,
    Container,
    CorrectFrom,
    FillScores,
    Group,
    KeepExtra,
    LossReport,
    OnAnyLoss,
    OneMetric,
    OnInvalidRow,
    OutputFiles,
    PrefixIds,
    Quarantine,
    RecordIds,
)
from harpia_formats.cli.options.references import ReferencesFrom
from harpia_formats.cli.options.values import column_map, constants_by_field
from harpia_formats.cli.output.loss_table import loss_lines, written_line
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import MESSAGE_LIMIT, print_error, write_stderr
from harpia_formats.cli.output.terminal import width_of
from harpia_formats.conversion.mapping.choices import (
    Prompt,
    ReferenceFrom,
    References,
    Turns,
)
from harpia_formats.conversion.options import ConvertOptions, Ids, OnInvalid, OnLoss
from harpia_formats.conversion.output_files import NoTargetError
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.conversion.run import Conversion
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.model.text.sanitize import safe
from harpia_formats.reporters.reporter import Options as ReportOptions


def convert(  # noqa: PLR0913 - a parameter for each option, which also makes it long
    paths: Paths = None,
    *,
    to: AnyTarget = None,
    output: OutputFiles = "-",
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    from_: InputFormat = None,
    exclude: Exclude = None,
    skip_unrecognised: SkipUnrecognised = False,
    min_records: MinRecords = 0,
    companion: ReadWith = None,
    references: AnyReferences = References.FIRST,
    reference_from: ReferencesFrom = ReferenceFrom.REFERENCES,
    responses: AnyResponses = None,
    turns: AnyTurns = Turns.LAST,
    prompt: AnyPrompt = Prompt.QUESTION,
    model: Model = None,
    filter_: AnyFilter = None,
    metric: OneMetric = None,
    group: Group = None,
    container: Container = None,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    constants: Constants = None,
    score: FillScores = None,
    correct_from: CorrectFrom = None,
    ids: RecordIds = Ids.KEEP,
    prefix_ids: PrefixIds = False,
    on_loss: OnAnyLoss = OnLoss.REPORT,
    loss_report: LossReport = None,
    keep_extra: KeepExtra = False,
    on_invalid: OnInvalidRow = OnInvalid.FAIL,
    quarantine: Quarantine = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    report: ReportOption = None,
    jobs: Jobs = 0,
    engine: Engine = None,
    cluster_timeout: ClusterTimeout = CLUSTER_TIMEOUT,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Convert files into another format, and show what is lost.

    An output file appears only after all input is read and valid. The table of
    losses goes to standard error.

    Exit codes:
    - 0: converted
    - 1: an invalid record, or a loss with --on-loss fail
    - 2: something could not be read, written or done
    - 3: a bug in harpia-formats
    """
    if quarantine is not None and on_invalid is not OnInvalid.QUARANTINE:
        raise UsageError("--quarantine FILE needs --on-invalid quarantine")
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths or (),
        exclude=exclude,
    )
    options = ConvertOptions(
        from_=from_,
        exclude=tuple(exclude or ()),
        skip_unrecognised=skip_unrecognised,
        min_records=min_records,
        companion=companion,
        references=references,
        reference_from=reference_from,
        responses=responses,
        turns=turns,
        prompt=prompt,
        model=model,
        filter=filter_,
        metric=metric,
        group=group,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        csv_safe=csv_safe,
        container=container,
        constants=constants_by_field(constants),
        score=score,
        filling_measure=filling_measure,
        correct_from=correct_from,
        on_loss=on_loss,
        on_invalid=on_invalid,
        redact=redact,
        keep_extra=keep_extra,
        ids=ids,
        prefix_ids=prefix_ids,
        overwrite=overwrite,
        quarantine=quarantine,
        loss_report=loss_report,
        max_row_bytes=max_row_bytes,
        jobs=jobs,
        engine=engine,
        cluster_timeout=cluster_timeout,
        progress=progress.update,
    )
    places = [*(paths or ()), output, quarantine, loss_report, companion]
    reports = ReportFiles(
        report, ConversionReport, places, prints_data=output in (None, "-")
    )
    try:
        run = Conversion(paths or ["-"], to, output, options)
    except NoTargetError as error:
        print_error(str(error))
        write_stderr("for help: harpia-formats convert --help\n")
        return ExitCode.UNABLE
    print_problems(reports.keeping(run), progress)
    found = run.report()
    _print_summary(run.messages, found, on_loss, quiet=quiet)
    reports.write(found, ReportOptions())
    return exit_code_of(found.report, ok=found.ok)


def _print_summary(
    notes: Iterable[str], report: ConversionReport, on_loss: OnLoss, *, quiet: bool
) -> None:
    """Print what could not be read, the table of losses and what was written."""
    print_unread(report.report)
    for note in report.notes:
        write_stderr(f"note: {safe(note, MESSAGE_LIMIT)}\n")
    if not quiet:
        for note in notes:
            write_stderr(f"{note}\n")
        # If nothing was written, nothing is lost.
        if on_loss is not OnLoss.IGNORE and (report.written or report.failed_by_loss):
            lines = loss_lines(report, width_of(sys.stderr))
            write_stderr("".join(f"{line}\n" for line in lines))
    if not quiet or not report.written:
        write_stderr(written_line(report) + "\n")
