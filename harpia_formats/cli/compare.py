"""`harpia-formats score compare`."""

import io
import sys
from contextlib import closing
from typing import Annotated

import typer

from harpia_formats.cli.convert import problem_line
from harpia_formats.cli.guard import FOUND, OK, UNABLE, complain, guarded, say, write_to
from harpia_formats.cli.losses import width_of_terminal
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.score import metrics_of, parameters_of
from harpia_formats.cli.score_table import WIDE
from harpia_formats.cli.settings import columns_of
from harpia_formats.model.report import Report
from harpia_formats.scoring.bootstrap import LEVEL, REPLICATES, SEED
from harpia_formats.scoring.compare_runs import ComparedScore, ScoreComparison
from harpia_formats.scoring.compare_stored import StoredComparison
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.text.sanitize import safe


def compare(  # noqa: PLR0913 - one parameter for each option of the command
    first: Annotated[str, typer.Argument(metavar="A", help="The first file.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The second file.")],
    *,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics", "-m", metavar="NAMES", help="Metrics with commas between."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose definitions are meant."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="METRIC.NAME=VALUE", help="A parameter of a metric."
        ),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            metavar="",
            help="Leave out metrics that cannot be computed, and say so.",
        ),
    ] = False,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="ID",
            help="Format of both files; recognised by content if not given.",
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", metavar="", help="Compare the scores that the records have."
        ),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Compare stored scores though they were not worked out alike.",
        ),
    ] = False,
    model_a: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model whose answers are taken of A."),
    ] = None,
    model_b: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model whose answers are taken of B."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of a CSV file for these fields, with commas between.",
        ),
    ] = None,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", metavar="", help="Leave out rows that are not valid."
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="The confidence of intervals.")
    ] = LEVEL,
    replicates: Annotated[
        int, typer.Option(min=1, metavar="N", help="Replicates of the bootstrap.")
    ] = REPLICATES,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The seed of the bootstrap.")
    ] = SEED,
    jobs: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Worker processes; 0 for as many as there are processors.",
        ),
    ] = 0,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A cluster that does the work: dask://HOST:PORT.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="No progress.")
    ] = False,
) -> None:
    """Compare the scores of two systems on the same records, by a paired bootstrap.

    Answers are paired by the id of their record, or by what it asks. The p-value is
    two-sided: how probable a difference as large is if there is none in truth.

    Exit codes: 0 compared, 1 a row is not valid or nothing can be said of a metric,
    2 something could not be read or computed, or scores were not worked out alike.
    """
    with guarded():
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = ScoreOptions(
            from_=from_,
            metrics=metrics_of(metrics),
            skip_unknown=skip_unknown,
            profile=profile,
            parameters=parameters_of(parameters or ()),
            columns=columns_of(columns),
            skip_invalid=skip_invalid,
            level=level,
            replicates=replicates,
            seed=seed,
            jobs=jobs,
            engine=engine,
            progress=progress.update,
        )
        models = (model_a, model_b)
        raise SystemExit(
            _stored(first, second, options, models, progress, force=force)
            if stored
            else _scored(first, second, options, models, progress)
        )


def _scored(
    first: str,
    second: str,
    options: ScoreOptions,
    models: tuple[str | None, str | None],
    progress: Progress,
) -> int:
    run = ScoreComparison([first], [second], options, models)
    with progress, closing(iter(run)) as problems:
        for each in problems:
            progress.around(say)(problem_line(each))
    report = run.report()
    only = (report.only_first, report.only_second)
    reports = (report.first.report, report.second.report)
    return _told(report.compared, reports, only, report.said, ok=report.ok)


def _stored(  # noqa: PLR0913 - one for each option that it needs
    first: str,
    second: str,
    options: ScoreOptions,
    models: tuple[str | None, str | None],
    progress: Progress,
    *,
    force: bool,
) -> int:
    run = StoredComparison([first], [second], options, models, force=force)
    with progress, closing(iter(run)) as problems:
        for each in problems:
            progress.around(say)(problem_line(each))
    report = run.report()
    only = (report.only_first, report.only_second)
    return _told(report.compared, report.reports, only, report.said, ok=report.ok)


def _told(
    compared: tuple[ComparedScore, ...],
    reports: tuple[Report, Report],
    only: tuple[int, int],
    said: tuple[str, ...],
    *,
    ok: bool,
) -> int:
    """Show what came of it; return the exit code."""
    failures = [each for report in reports for each in report.failures]
    for each in failures:
        complain(f"{each.path}: {each.reason}")
    if failures:
        return UNABLE
    if compared:
        write_to(sys.stdout)(_table(compared))
    for line in said:
        say(f"{line}\n")
    if any(only):
        say(f"not compared: {only[0]:,} only in the first, {only[1]:,} in the second\n")
    return OK if ok else FOUND


def _table(compared: tuple[ComparedScore, ...]) -> str:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow, and for a table only
    from rich.console import Console  # noqa: PLC0415 - likewise
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for each in ("metric", "A", "B", "A - B", "interval", "p", "pairs"):
        table.add_column(each, justify="left" if each == "metric" else "right")
    for score in compared:
        found = score.comparison
        called = score.name
        if score.metric != score.name:
            called = f"{score.metric}.{score.name}"
        table.add_row(
            Text(safe(called)),
            _shown(score.first),
            _shown(score.second),
            "" if found is None else f"{found.difference:+.4f}",
            "" if found is None else f"{found.low:+.4f} to {found.high:+.4f}",
            "" if found is None else f"{found.p_value:.4f}",
            f"{score.pairs:,}",
        )
    width = width_of_terminal() or WIDE
    console = Console(file=io.StringIO(), width=width, height=100, color_system=None)
    with console.capture() as captured:
        console.print(table)
    lines = [each.rstrip() for each in captured.get().rstrip("\n").split("\n")]
    signatures = dict.fromkeys(each.signature for each in compared if each.signature)
    lines += ["", *(f"signature: {each}" for each in signatures)]
    return "".join(f"{each}\n" for each in lines)


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
