"""`harpia-formats diff`."""

import sys
from typing import Annotated

import typer

from harpia_formats.cli.convert import problem_line
from harpia_formats.cli.differing import print_differences
from harpia_formats.cli.guard import guarded, say
from harpia_formats.cli.progress import Progress
from harpia_formats.comparison import Comparison
from harpia_formats.convert_options import ConvertOptions


def diff(
    left: Annotated[
        str, typer.Argument(metavar="A", help="A file, folder or pattern.")
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    *,
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
        run = Comparison([left], [right], ConvertOptions(progress=progress.update))
        with progress:
            for each in run:
                progress.around(say)(problem_line(each))
        report = run.report()
        how = f"matched by {run.matched_by}"
        if run.left_out and not quiet:
            names = ", ".join(run.left_out)
            say(f"not compared, since one side has no place for it: {names}\n")
        raise SystemExit(print_differences(report, how, quiet=quiet))
