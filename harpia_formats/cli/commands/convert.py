"""`harpia-formats convert`."""

import sys
from collections.abc import Iterable

from harpia_formats.cli.exit_codes import ExitCode, UsageError, exit_code_of
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.loss_table import loss_lines, written_line
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import MESSAGE_LIMIT, print_error, write_stderr
from harpia_formats.cli.output.terminal import width_of
from harpia_formats.conversion.options import ConvertOptions, OnInvalid, OnLoss
from harpia_formats.conversion.output_files import NoTargetError
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.conversion.run import Conversion
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.model.text.sanitize import safe
from harpia_formats.reporters.reporter import Options as ReportOptions


def convert(given: Given) -> ExitCode:
    """Convert files into another format, and show what is lost.

    An output file appears only after all input is read and valid. The table of
    losses goes to standard error.

    Exit codes:
    - 0: converted
    - 1: an invalid record, or a loss with --on-loss fail
    - 2: something could not be read, written or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats convert answers.jsonl --to eee -o eee.jsonl
    - harpia-formats convert rows.csv --map prompt=question,gt=answer --to harpia
    - harpia-formats convert logs --to csv -o all.csv --on-invalid skip
    """
    if given.quarantine is not None and given.on_invalid != OnInvalid.QUARANTINE:
        raise UsageError("--quarantine FILE needs --on-invalid quarantine")
    progress = given.progress(given.paths)
    options = given.options(
        ConvertOptions, filling_measure=filling_measure, progress=progress.update
    )
    places = [
        *given.paths,
        given.output,
        given.quarantine,
        given.loss_report,
        given.companion,
    ]
    reports = ReportFiles(
        given.report, ConversionReport, places, prints_data=given.output in (None, "-")
    )
    try:
        run = Conversion(given.paths or ["-"], given.to, given.output, options)
    except NoTargetError as error:
        print_error(str(error))
        write_stderr("for help: harpia-formats convert --help\n")
        return ExitCode.UNABLE
    print_problems(reports.keeping(run), progress)
    found = run.report()
    _print_summary(run.messages, found, options.on_loss, quiet=given.quiet)
    reports.write(found, ReportOptions())
    return exit_code_of(found.report, ok=found.ok)


def _print_summary(
    notes: Iterable[str], report: ConversionReport, on_loss: str, *, quiet: bool
) -> None:
    """Print what could not be read, the table of losses and what was written."""
    print_unread(report.report)
    for note in report.notes:
        write_stderr(f"note: {safe(note, MESSAGE_LIMIT)}\n")
    if not quiet:
        for note in notes:
            write_stderr(f"{note}\n")
        # If nothing was written, nothing is lost.
        if on_loss != OnLoss.IGNORE and (report.written or report.failed_by_loss):
            lines = loss_lines(report, width_of(sys.stderr))
            write_stderr("".join(f"{line}\n" for line in lines))
    if not quiet or not report.written:
        write_stderr(written_line(report) + "\n")
