"""`harpia-formats roundtrip`."""

import sys
from typing import Annotated

import typer

from harpia_formats.cli.convert import problem_line
from harpia_formats.cli.differing import print_differences
from harpia_formats.cli.guard import guarded, say
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.settings import columns_of, constants_of, one_of
from harpia_formats.comparison.round_trip import RoundTrip
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.mapping.choices import References, Responses, Turns


def roundtrip(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATHS]",
            help="Files, folders or patterns; standard input if none is given.",
            show_default=False,
        ),
    ] = None,
    *,
    via: Annotated[
        str, typer.Option("--via", metavar="ID", help="Format to go through.")
    ],
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
            help="Several references: first, expand or fail.",
        ),
    ] = References.FIRST,
    responses: Annotated[
        Responses,
        typer.Option(
            metavar="HOW",
            parser=one_of(Responses),
            help="Several answers: expand, first, list or fail.",
        ),
    ] = Responses.EXPAND,
    turns: Annotated[
        Turns,
        typer.Option(
            metavar="HOW",
            parser=one_of(Turns),
            help="A chat: last, transcript or fail.",
        ),
    ] = Turns.LAST,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Take the answers of this model only."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of CSV or Haystack for these fields, with commas between.",
        ),
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Give a field to records that lack it, or lose it on the way there; "
            "again for each field.",
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="Score answers without a score: em or f1."),
    ] = None,
    keep_extra: Annotated[
        bool,
        typer.Option(
            "--keep-extra",
            metavar="",
            help="Keep what has no place where the format has room for it.",
        ),
    ] = False,
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
    """Convert files into another format and back, and show what does not come back.

    Nothing is written. Exit codes: 0 every record comes back as it was, 1 something
    differs or is not valid, 2 something could not be read or done.
    """
    with guarded():
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = ConvertOptions(
            from_=from_,
            references=references,
            responses=responses,
            turns=turns,
            model=model,
            columns=columns_of(columns),
            constants=constants_of(constants or ()),
            score=score,
            keep_extra=keep_extra,
            on_invalid=on_invalid,
            progress=progress.update,
        )
        run = RoundTrip(paths or ["-"], via, options)
        with progress:
            for each in run:
                progress.around(say)(problem_line(each))
        raise SystemExit(
            print_differences(run.report(), f"through {run.via}", quiet=quiet)
        )
