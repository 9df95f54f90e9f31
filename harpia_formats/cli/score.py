"""`harpia-formats score`."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from harpia_formats.cli.convert import problem_line
from harpia_formats.cli.guard import FOUND, OK, UNABLE, complain, guarded, say, write_to
from harpia_formats.cli.progress import Progress
from harpia_formats.cli.score_table import score_lines
from harpia_formats.cli.settings import columns_of, split
from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.scoring.bootstrap import LEVEL, REPLICATES, SEED
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.run import Scoring
from harpia_formats.scoring.scores import Scores

#: The parts of the help page.
MEASURING, GROUPING, WRITING, READING = (
    "ComputedMetric",
    "Grouping",
    "Writing",
    "Reading",
)


def score(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATHS]",
            help="Files, folders or patterns; standard input if none is given.",
            show_default=False,
        ),
    ] = None,
    *,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            "-m",
            metavar="NAMES",
            help="Metrics with commas between, such as em,f1,bleu,rouge; those that "
            "the input or the profile names if not given.",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose definitions are meant; those of what is written if not given.",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A vendor's configuration that chooses metrics and names.",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="METRIC.NAME=VALUE",
            help="A parameter of a metric, such as rouge.stemmer=true; again for each.",
            rich_help_panel=MEASURING,
        ),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            metavar="",
            help="Leave out metrics that cannot be computed, and say so.",
            rich_help_panel=MEASURING,
        ),
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELDS",
            help="Groups by category, source, model, evaluation_name or metadata.NAME.",
            rich_help_panel=GROUPING,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take the answers of this model only.",
            rich_help_panel=GROUPING,
        ),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="The confidence of intervals.",
            rich_help_panel=GROUPING,
        ),
    ] = LEVEL,
    replicates: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Replicates of the bootstrap; 0 for no intervals.",
            rich_help_panel=GROUPING,
        ),
    ] = REPLICATES,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="The seed of the bootstrap.",
            rich_help_panel=GROUPING,
        ),
    ] = SEED,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            "-t",
            metavar="ID",
            help="Format of results to write; a table if not given.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where results go; - is standard output.",
            rich_help_panel=WRITING,
        ),
    ] = "-",
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            metavar="",
            help="Replace an output that is there.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="WHAT=NAME",
            help="A name in what is written: task, tree, job or run_name.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Give a field to records that lack it, where records are written.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="ID",
            help="Format of the inputs; recognised by content if not given.",
            rich_help_panel=READING,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="Columns of a CSV file for these fields, with commas between.",
            rich_help_panel=READING,
        ),
    ] = None,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid",
            metavar="",
            help="Leave out rows that are not valid, and say so.",
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
            "--quiet", "-q", metavar="", help="No table beside results, no progress."
        ),
    ] = False,
) -> None:
    """Score stored answers, and write the results as a vendor has them.

    Every score has a signature that says how it was worked out. The table goes to
    standard output, or to standard error where results are written.
    `harpia-formats score compare A B` compares two systems on the same records.

    Exit codes: 0 scored, 1 a row is not valid, or a metric has no score, 2 something
    could not be read, computed or written, 3 a bug in harpia-formats.
    """
    with guarded():
        progress = Progress(shown=not quiet and sys.stderr.isatty())
        options = ScoreOptions(
            from_=from_,
            metrics=metrics_of(metrics),
            profile=profile,
            config=config,
            parameters=parameters_of(parameters or ()),
            by=split(by),
            skip_unknown=skip_unknown,
            skip_invalid=skip_invalid,
            model=model,
            columns=columns_of(columns),
            constants=_pairs_of(constants or (), "--set", "FIELD=VALUE"),
            names=_pairs_of(names or (), "--name", "WHAT=NAME"),
            level=level,
            replicates=replicates,
            seed=seed,
            overwrite=overwrite,
            max_row_bytes=max_row_bytes,
            jobs=jobs,
            engine=engine,
            progress=progress.update,
        )
        run = Scoring(paths or ["-"], to, output, options)
        with progress, closing(iter(run)) as problems:
            for each in problems:
                progress.around(say)(problem_line(each))
        raise SystemExit(_told(run.scores(), written=to is not None, quiet=quiet))


def metrics_of(names: list[str] | None) -> tuple[str, ...]:
    """Return the metrics that are named; raises `ScoreError` for an option without."""
    found = tuple(each.strip() for each in split(names) if each.strip())
    if names and not found:
        raise ScoreError("--metrics names no metric")
    return found


def _pairs_of(parts: Any, option: str, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        name, sign, text = part.partition("=")
        if not sign or not name:
            raise ScoreError(f"{option} {part}: write it as {form}")
        found[name] = text
    return found


def parameters_of(parts: Any) -> dict[str, Any]:
    """Return the value of each parameter: JSON where it can be read so, else text.

    Raises `ScoreError`.
    """
    from harpia_formats.model.exact_json import decode  # noqa: PLC0415 - if asked for

    found: dict[str, Any] = {}
    for name, text in _pairs_of(parts, "--param", "METRIC.NAME=VALUE").items():
        try:
            found[name] = decode(text.encode())
        except ValueError:
            found[name] = text
    return found


def _told(scores: Scores, *, written: bool, quiet: bool) -> int:
    """Show what came of it; return the exit code."""
    for each in scores.report.failures:
        complain(f"{each.path}: {each.reason}")
    if scores.is_whole:
        lines = "".join(f"{each}\n" for each in score_lines(scores))
        if not written:
            write_to(sys.stdout)(lines)
        elif not quiet:
            say(lines)
        for said in scores.said:
            say(f"{said}\n")
        for name in scores.outputs:
            say(f"{name}: written\n")
    elif not scores.report.failures:
        say("there are no scores of the whole, since not all of it could be read")
        say("; --skip-invalid leaves out rows that are not valid\n")
    if scores.report.failures:
        return UNABLE
    return OK if scores.ok else FOUND
