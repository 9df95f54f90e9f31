"""`harpia-formats convert`."""

import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from harpia_formats.cli.guard import FOUND, OK, UNABLE, complain, guarded, say
from harpia_formats.cli.losses import loss_lines, width_of_terminal, written_line
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.settings import columns_of, constants_of, one_of
from harpia_formats.conversion.options import (
    ContainerKind,
    ConvertOptions,
    OnInvalid,
    OnLoss,
)
from harpia_formats.conversion.output_files import check_output
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.conversion.run import Conversion
from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.io.sink import SinkError
from harpia_formats.io.urls import is_same_place
from harpia_formats.mapping.choices import References, Responses, Turns
from harpia_formats.model.problem import Problem

#: The parts of the help page.
CHOOSING, LACKING, LOSING, READING = "Choosing", "Filling in", "Losing", "Reading"


def convert(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATHS]",
            help="Files, folders or patterns; standard input if none is given.",
            show_default=False,
        ),
    ] = None,
    *,
    to: Annotated[
        str,
        typer.Option("--to", "-t", metavar="ID", help="Format to write."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to; - is standard output. .gz, .bz2, .xz and .zst are "
            "compressed. {model} in the name makes a file for each model.",
        ),
    ] = "-",
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", metavar="", help="Replace an output that is there."
        ),
    ] = False,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="ID",
            help="Format of the inputs; recognised by content if not given.",
        ),
    ] = None,
    references: Annotated[
        References,
        typer.Option(
            metavar="HOW",
            parser=one_of(References),
            help="Several references where a row holds one: first, expand or fail.",
            rich_help_panel=CHOOSING,
        ),
    ] = References.FIRST,
    responses: Annotated[
        Responses,
        typer.Option(
            metavar="HOW",
            parser=one_of(Responses),
            help="Several answers where a row holds one: expand, first, list or fail.",
            rich_help_panel=CHOOSING,
        ),
    ] = Responses.EXPAND,
    turns: Annotated[
        Turns,
        typer.Option(
            metavar="HOW",
            parser=one_of(Turns),
            help="A chat where a row holds one prompt: last, transcript or fail.",
            rich_help_panel=CHOOSING,
        ),
    ] = Turns.LAST,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take the answers of this model only.",
            rich_help_panel=CHOOSING,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Make one record of the rows with the same id, prompt or other field.",
            rich_help_panel=CHOOSING,
        ),
    ] = None,
    container: Annotated[
        ContainerKind | None,
        typer.Option(
            metavar="HOW",
            parser=one_of(ContainerKind),
            help="array or lines; by the output's name (.json, .jsonl) or the format "
            "if not given.",
            rich_help_panel=CHOOSING,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of CSV or Haystack for these fields, with commas between.",
            rich_help_panel=CHOOSING,
        ),
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Give a field to records that lack it; again for each field.",
            rich_help_panel=LACKING,
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="Score answers without a score: em or f1.",
            rich_help_panel=LACKING,
        ),
    ] = None,
    prefix_ids: Annotated[
        bool,
        typer.Option(
            "--prefix-ids",
            metavar="",
            help="Put the name of its file in front of each id.",
            rich_help_panel=LACKING,
        ),
    ] = False,
    on_loss: Annotated[
        OnLoss,
        typer.Option(
            metavar="HOW",
            parser=one_of(OnLoss),
            help="report, fail (exit 1, and nothing is written) or ignore.",
            rich_help_panel=LOSING,
        ),
    ] = OnLoss.REPORT,
    loss_report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the losses as a report in JSON.",
            rich_help_panel=LOSING,
        ),
    ] = None,
    keep_extra: Annotated[
        bool,
        typer.Option(
            "--keep-extra",
            metavar="",
            help="Keep what has no place where the format has room for it.",
            rich_help_panel=LOSING,
        ),
    ] = False,
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(
            metavar="HOW",
            parser=one_of(OnInvalid),
            help="Rows that are not valid or cannot be converted: fail, skip or "
            "quarantine.",
            rich_help_panel=READING,
        ),
    ] = OnInvalid.FAIL,
    quarantine: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where such rows go; beside the output if not given.",
            rich_help_panel=READING,
        ),
    ] = None,
    max_row_bytes: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="A longer row is an error; 16 MiB if not given.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = ROW_LIMIT,
    jobs: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Worker processes; 0 for as many as there are processors.",
            rich_help_panel=READING,
        ),
    ] = 0,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A cluster that does the work: dask://HOST:PORT.",
            rich_help_panel=READING,
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", metavar="", help="No table of losses and no progress."
        ),
    ] = False,
) -> None:
    """Convert files into another format, and say what is lost by it.

    What is written is there only once all of the input was read and is good. The table
    of losses goes to standard error.

    Exit codes: 0 done, 1 an invalid record, or a loss under --on-loss fail, 2 something
    could not be read, written or done, 3 a bug in harpia-formats.
    """
    with guarded():
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = ConvertOptions(
            from_=from_,
            references=references,
            responses=responses,
            turns=turns,
            model=model,
            group=group,
            columns=columns_of(columns),
            container=container,
            constants=constants_of(constants or ()),
            score=score,
            on_loss=on_loss,
            on_invalid=on_invalid,
            keep_extra=keep_extra,
            prefix_ids=prefix_ids,
            overwrite=overwrite,
            quarantine=quarantine,
            max_row_bytes=max_row_bytes,
            jobs=jobs,
            engine=engine,
            progress=progress.update,
        )
        if quarantine is not None and on_invalid is not OnInvalid.QUARANTINE:
            complain("--quarantine FILE is for --on-invalid quarantine")
            raise SystemExit(UNABLE)
        if loss_report is not None:
            check_apart(loss_report, [*(paths or ()), output], overwrite=overwrite)
        run = Conversion(paths or ["-"], to, output, options)
        # A run that is broken off takes away what it wrote.
        with progress, closing(iter(run)) as problems:
            for each in problems:
                progress.around(say)(problem_line(each))
        report = run.report()
        if loss_report is not None:
            from harpia_formats.conversion.losses.json import write_loss_report  # noqa: PLC0415 - if asked for

            write_loss_report(report, loss_report)
        raise SystemExit(_told(run, report, on_loss, quiet=quiet))


def check_apart(path: Path, others: Iterable[str], *, overwrite: bool) -> None:
    """Refuse a file for the losses that is there, or is another file of the run.

    Raises `SinkError`.
    """
    check_output(path, overwrite=overwrite)
    if not path.absolute().parent.is_dir():
        raise SinkError(str(path), "there is no such folder")
    if any(is_same_place(path, each) for each in others):
        raise SinkError(str(path), "is an input or the output of the conversion")


def problem_line(problem: Problem) -> str:
    """Return a problem as one line, with what would mend it."""
    from harpia_formats.reporters.concise import line_of  # noqa: PLC0415 - only where something is wrong

    line = line_of(problem)
    has_help = problem.help and problem.help not in line
    return f"{line}\n  help: {problem.help}\n" if has_help else f"{line}\n"


def _told(
    run: Conversion, report: ConversionReport, on_loss: OnLoss, *, quiet: bool
) -> int:
    """Say what came of it on standard error; return the exit code."""
    for each in report.report.failures:
        complain(f"{each.path}: {each.reason}")
    if not quiet:
        for said in run.said:
            say(f"{said}\n")
        # Of what was not written nothing is lost.
        if on_loss is not OnLoss.IGNORE and (report.written or report.failed_by_loss):
            lines = loss_lines(report, width_of_terminal())
            say("".join(f"{each}\n" for each in lines))
        say(written_line(report) + "\n")
    elif not report.written:
        say(written_line(report) + "\n")
    if report.report.failures:
        return UNABLE
    return OK if report.ok else FOUND
