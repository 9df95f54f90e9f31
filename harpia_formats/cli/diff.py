"""`harpia-formats diff`."""

import sys
from typing import Annotated

import typer

from harpia_formats.cli.convert import problem_line
from harpia_formats.cli.differing import print_differences
from harpia_formats.cli.guard import guarded, say
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.settings import columns_of, one_of
from harpia_formats.comparison.diff import Comparison
from harpia_formats.conversion.options import ConvertOptions, OnInvalid


def diff(  # noqa: PLR0913 - one parameter for each option of the command
    left: Annotated[
        str, typer.Argument(metavar="A", help="A file, folder or pattern.")
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    *,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="ID",
            help="Format of A; recognised by content if not given.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            "-t",
            metavar="ID",
            help="Format of B, likewise.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of CSV or Haystack for these fields, with commas between.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compare the answers of this model only."),
    ] = None,
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(
            metavar="HOW",
            parser=one_of(OnInvalid, OnInvalid.FAIL, OnInvalid.SKIP),
            help="Rows that are not valid: fail or skip.",
        ),
    ] = OnInvalid.FAIL,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", metavar="", help="No summary and no progress."),
    ] = False,
) -> None:
    """Compare two data sets of any formats, record by record.

    Records are matched by their ids, or by their prompts where one side has no ids;
    their order does not matter. Fields that one of the two formats has no place for
    are not compared.

    Exit codes: 0 no difference, 1 a difference or an invalid record, 2 something could
    not be read or done.
    """
    with guarded():
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = ConvertOptions(
            from_=from_,
            columns=columns_of(columns),
            model=model,
            on_invalid=on_invalid,
            progress=progress.update,
        )
        run = Comparison([left], [right], options, to)
        with progress:
            for each in run:
                progress.around(say)(problem_line(each))
        report = run.report()
        how = f"matched by {run.matched_by}"
        if run.left_out and not quiet:
            names = ", ".join(run.left_out)
            say(f"not compared, since one side has no place for it: {names}\n")
        raise SystemExit(print_differences(report, how, quiet=quiet))
