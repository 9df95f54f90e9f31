"""`harpia-formats convert`."""

import sys
from collections.abc import Iterable, Iterator

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems, print_unread
from harpia_formats.cli.report import ReportFiles
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    UsageError,
    exit_code_of,
    print_error,
    width_of,
    write_stderr,
)
from harpia_formats.conversion.losses.conversion_report import (
    ConversionReport,
    FieldLine,
    field_lines,
    words_for,
)
from harpia_formats.conversion.options import ConvertOptions, OnInvalid, OnLoss
from harpia_formats.conversion.output_files import NoTargetError
from harpia_formats.conversion.run import Conversion
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.phrases import position
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.tables.table import Cell, table_of
from harpia_formats.reporters.tables.terminal import CELL, fitted_lines

#: The columns of the table.
_NAMES = ("field", "records", "kept", "lost or changed", "how", "first")
#: Code points of the name of a file.
_PATH = 200


def loss_lines(report: ConversionReport, width: int | None = None) -> Iterator[str]:
    """Yield the table of losses: a row for each field that is not kept as it is.

    The fields that are kept share one line below it. The table is at most `width`
    columns wide, and as wide as its cells if `width` is None.
    """
    lines = field_lines(report.losses)
    changed = [line for line in lines if line.outcomes]
    kept = [line.name for line in lines if not line.outcomes]
    if not changed:
        if kept:
            yield "nothing is lost"
        return
    rows = [_cells(line) for line in changed]
    yield from fitted_lines(table_of("Losses", _NAMES, rows), width)
    if kept:
        yield f"kept as they are: {', '.join(safe(name, CELL) for name in kept)}"


def _cells(line: FieldLine) -> tuple[Cell, ...]:
    """Return the cells of one field, safe to print."""
    place = line.place
    first = position(place.full_path, place.line, place.column) if place else ""
    return (
        safe(line.name, CELL),
        line.records,
        line.kept,
        ", ".join(words_for(line)),
        safe(line.how, CELL),
        first,
    )


def written_line(report: ConversionReport) -> str:
    """Return how many rows were written to which files, or why none were."""
    names = ", ".join(safe(name, _PATH) for name in report.outputs)
    skipped = ""
    if report.skipped:
        skipped = f", {with_noun(report.skipped, 'record')} left out"
        if report.quarantine:
            skipped += f" (in {safe(report.quarantine[0], _PATH)})"
    if report.written:
        return f"{names}: {with_noun(report.rows, 'row')} of {report.target}{skipped}"
    why = "something would be lost" if report.failed_by_loss else "see above"
    if report.is_empty:
        why = "there is no record in the input"
    if report.quarantine and not report.is_cut:
        names = " and ".join(safe(name, _PATH) for name in report.quarantine)
        return f"no row was written, only {names}: {why}"
    return f"{safe(report.nothing, _PATH)}: {why}"


def convert(given: Given) -> ExitCode:
    """Convert files into another format, and show what is lost.

    An output file appears only after all input is read and valid. The table of
    losses goes to standard error.

    Exit codes:
    - 0: converted
    - 1: an invalid record, an error of a whole file, or a loss with --on-loss fail
    - 2: something could not be read, written or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats convert answers.jsonl --to eee -o eee.jsonl
    - harpia-formats convert rows.csv --map prompt=question,gt=answer --to harpia
    - harpia-formats convert logs --to csv -o all.csv --on-invalid skip
    """
    if given.quarantine is not None and given.on_invalid != OnInvalid.QUARANTINE:
        raise UsageError("`--quarantine FILE` needs `--on-invalid quarantine`")
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
        run = Conversion(
            given.paths or ["-"], given.to, given.output, options, reports.places
        )
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
