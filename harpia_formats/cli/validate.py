"""`harpia-formats validate`."""

import sys
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import typer

from harpia_formats.cli.guard import (
    FOUND,
    OK,
    UNABLE,
    complain,
    guarded,
    say,
    write_to,
)
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.settings import jobs as jobs_asked
from harpia_formats.cli.settings import split
from harpia_formats.cli.table import wants_color
from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.mapping.columns import parse_column_map
from harpia_formats.model.report import Report
from harpia_formats.reporters import REPORTERS
from harpia_formats.reporters import Options as Wishes
from harpia_formats.reporters.text import summary_lines
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation

#: The parts of the help page.
JUDGING, READING, REPORTING = "Judging", "Reading", "Reporting"


class OutputFormat(StrEnum):
    """The reporters by name."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"


def validate(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS",
            help="Files, folders or patterns; - is standard input.",
            show_default=False,
        ),
    ],
    *,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="ID",
            help="Format of the files; recognised by content if not given.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Judge by this draft-07 schema instead of a format.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            metavar="",
            help="Hold files to what the vendor's document says.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of a CSV file for these fields, with commas between.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    companion: Annotated[
        str | None,
        typer.Option(
            "--with",
            "--aggregate",
            metavar="FILE",
            help="Check against this file too: an aggregate, or HarpIA's input.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    assert_formats: Annotated[
        bool,
        typer.Option(
            "--assert-formats",
            metavar="",
            help="Let the keyword format of a schema refuse values.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Only these rules: codes, prefixes or names, with commas between.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="All but these rules, written likewise.",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    lint: Annotated[
        bool,
        typer.Option(
            "--lint",
            metavar="",
            help="Check the doubts too that are not checked by default.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    cross_check: Annotated[
        bool,
        typer.Option(
            "--cross-check",
            metavar="",
            help="Ask a second schema engine too (slow); exit with 3 if it differs.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Read at most so many records of each file.",
            rich_help_panel=READING,
        ),
    ] = None,
    fail_fast: Annotated[
        bool,
        typer.Option(
            "--fail-fast",
            metavar="",
            help="Stop at the first error.",
            rich_help_panel=READING,
        ),
    ] = False,
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
            metavar="N",
            parser=jobs_asked,
            help="Worker processes; auto for as many as there are processors.",
            rich_help_panel=READING,
        ),
    ] = "auto",  # type: ignore[assignment]  # what is parsed is text
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A cluster that does the work: dask://HOST:PORT.",
            rich_help_panel=READING,
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option(
            metavar="NAME",
            help="full, concise, json or jsonl; full on a terminal and concise "
            "elsewhere if not given.",
            rich_help_panel=REPORTING,
        ),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Equal findings to show; 0 for all.",
            rich_help_panel=REPORTING,
        ),
    ] = 5,
    max_problems: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Findings to show in all; 0 for all.",
            rich_help_panel=REPORTING,
        ),
    ] = 1000,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics",
            metavar="",
            help="Add the counts of each rule.",
            rich_help_panel=REPORTING,
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            metavar="",
            help="No summary and no progress.",
            rich_help_panel=REPORTING,
        ),
    ] = False,
    error_on_warning: Annotated[
        bool,
        typer.Option(
            "--error-on-warning",
            metavar="",
            help="Exit with 1 for warnings too.",
            rich_help_panel=REPORTING,
        ),
    ] = False,
    exit_zero: Annotated[
        bool,
        typer.Option(
            "--exit-zero",
            metavar="",
            help="Exit with 0 even if errors are found.",
            rich_help_panel=REPORTING,
        ),
    ] = False,
) -> None:
    """Check files against their format, and say where they break it and why.

    Findings go to standard output, everything else to standard error.

    Exit codes: 0 no errors, 1 errors, 2 something could not be read or done,
    3 a bug in harpia-formats.
    """
    with guarded():
        of_formats = {"--strict": strict, "--with": companion is not None}
        _need_one_judge(schema, format_, columns, of_formats)
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = Options(
            format="csv" if columns else format_,
            schema=schema,
            columns=parse_column_map(split(columns)) if columns else None,
            companion=companion,
            select=split(select),
            ignore=split(ignore),
            lint=lint,
            strict=strict,
            examples=examples,
            max_problems=max_problems,
            fail_fast=fail_fast,
            limit=limit,
            assert_formats=assert_formats,
            cross_check=cross_check,
            max_row_bytes=max_row_bytes,
            jobs=jobs,
            engine=engine,
            progress=progress.update,
        )
        run = Validation(paths, options)
        with progress:
            report = _report(run, progress, output_format, quiet, statistics)
        for each in report.failures:
            complain(f"{each.path}: {each.reason}")
        code = _exit_code(report, error_on_warning=error_on_warning)
        raise SystemExit(OK if exit_zero and code == FOUND else code)


def _need_one_judge(
    schema: Path | None,
    format_: str | None,
    columns: list[str] | None,
    of_formats: dict[str, bool],
) -> None:
    """End the run where options contradict each other on what to judge by."""
    if schema is not None and format_ is not None:
        complain("--schema and --format exclude each other")
        raise SystemExit(UNABLE)
    for name, is_given in of_formats.items():
        if schema is not None and is_given:
            complain(f"--schema and {name} exclude each other")
            raise SystemExit(UNABLE)
    if columns and (schema is not None or format_ not in {None, "csv"}):
        complain("--map is for tables of any columns: --format csv")
        raise SystemExit(UNABLE)


def _report(
    run: Validation,
    progress: Progress,
    output_format: OutputFormat | None,
    quiet: bool,  # noqa: FBT001 - passed on as given
    statistics: bool,  # noqa: FBT001 - passed on as given
) -> Report:
    """Write the findings as they come, and return the report."""
    terminal = sys.stdout.isatty()
    name = output_format or (OutputFormat.FULL if terminal else OutputFormat.CONCISE)
    wishes = Wishes(
        color=terminal and wants_color(),
        width=get_terminal_size().columns if terminal else 100,
        statistics=statistics,
        quiet=quiet,
    )
    write = progress.around(write_to(sys.stdout)) if terminal else write_to(sys.stdout)
    REPORTERS[name].write(run, run.report, write, wishes)
    report = run.report()
    sys.stdout.flush()
    if name is OutputFormat.CONCISE and not quiet:
        progress.stop()
        say("".join(f"{each}\n" for each in summary_lines(report)))
    return report


def _exit_code(report: Report, *, error_on_warning: bool) -> int:
    if report.failures:
        return UNABLE
    if not report.ok or (error_on_warning and report.warnings):
        return FOUND
    return OK
