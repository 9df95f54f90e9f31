"""`harpia-formats score`."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from os import fspath
from typing import cast

from harpia_formats.api.recipes.table import Applied, ScoreRun
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
    Output,
    Overwrite,
    Quiet,
    ReadWith,
    Redact,
    ReportOption,
    ShowProgress,
    SkipInvalid,
    SkipUnrecognised,
)
from harpia_formats.cli.options.given import Context
from harpia_formats.cli.options.recipes import (
    RecipeFile,
    ShowRecipe,
    print_recipe,
    with_recipe,
)
from harpia_formats.cli.options.references import ReferencesFrom
from harpia_formats.cli.options.scoring import (
    Config,
    Groups,
    Level,
    Metrics,
    Missing,
    Names,
    Parameters,
    Plots,
    Pool,
    Profile,
    Replicates,
    ResultFormat,
    ScoredInputs,
    ScoreFormat,
    Seed,
    ShowStored,
    SkipUnknown,
    metrics_of,
    pairs_of,
    parameters_of,
)
from harpia_formats.cli.options.values import column_map, comma_separated
from harpia_formats.cli.output.plot_files import PlotFiles
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.score_table import score_lines
from harpia_formats.cli.output.streams import (
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.evaluation.scoring.bootstrap import LEVEL, REPLICATES, SEED
from harpia_formats.evaluation.scoring.nameless_files import split_names
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.evaluation.scoring.stored_run import scoring_of
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form, form_lines


def score(  # noqa: PLR0913 - a parameter for each option, which also makes it long
    context: Context,
    paths: ScoredInputs = None,
    *,
    recipe: RecipeFile = None,
    show_recipe: ShowRecipe = False,
    metrics: Metrics = None,
    profile: Profile = None,
    config: Config = None,
    parameters: Parameters = None,
    skip_unknown: SkipUnknown = False,
    stored: ShowStored = False,
    by: Groups = None,
    model: Model = None,
    pool: Pool = False,
    reference_from: ReferencesFrom = ReferenceFrom.REFERENCES,
    missing: Missing = "skip",
    level: Level = LEVEL,
    replicates: Replicates = REPLICATES,
    seed: Seed = SEED,
    to: ResultFormat = None,
    output: Output = "-",
    output_format: ScoreFormat = TABLE,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    names: Names = None,
    constants: Constants = None,
    from_: InputFormat = None,
    exclude: Exclude = None,
    skip_unrecognised: SkipUnrecognised = False,
    min_records: MinRecords = 0,
    companion: ReadWith = None,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    skip_invalid: SkipInvalid = False,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    report: ReportOption = None,
    plots: Plots = None,
    jobs: Jobs = 0,
    engine: Engine = None,
    cluster_timeout: ClusterTimeout = CLUSTER_TIMEOUT,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Score stored answers, and write the results in a vendor's format.

    Every score has a signature: how it was computed. The table goes to standard
    output, or to standard error if results are written.
    `harpia-formats score compare A B` compares systems on the same questions.

    Exit codes:
    - 0: scored
    - 1: a row is not valid and not skipped, or a metric has no score
    - 2: something could not be read, computed or written
    - 3: a bug in harpia-formats
    """
    inputs, systems = split_names(paths or ())
    options = ScoreOptions(
        from_=from_,
        exclude=tuple(exclude or ()),
        skip_unrecognised=skip_unrecognised,
        min_records=min_records,
        companion=companion,
        stored=stored,
        metrics=metrics_of(metrics),
        profile=profile,
        config=config,
        parameters=parameters_of(parameters),
        by=comma_separated(by),
        skip_unknown=skip_unknown,
        on_invalid="skip" if skip_invalid else "fail",
        missing=missing,
        redact=redact,
        model=model,
        systems=systems,
        pool=pool,
        reference_from=reference_from,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        csv_safe=csv_safe,
        constants=pairs_of(constants, "--set", "FIELD=VALUE"),
        names=pairs_of(names, "--name", "WHAT=NAME"),
        level=level,
        replicates=replicates,
        seed=seed,
        overwrite=overwrite,
        max_row_bytes=max_row_bytes,
        jobs=jobs,
        engine=engine,
        cluster_timeout=cluster_timeout,
    )
    files = ScoreRun(
        tuple(inputs),
        to,
        output,
        tuple(report or ()),
        tuple(plots or ()),
        cast("Form", output_format),
    )
    chosen = with_recipe("score", recipe, options, files, context)
    if show_recipe:
        return print_recipe("score", chosen.options, chosen.run)
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=chosen.run.inputs,
        exclude=chosen.options.exclude,
    )
    return _score(chosen, progress, recipe, quiet=quiet)


def _score(
    chosen: Applied[ScoreRun], progress: Progress, recipe: str | None, *, quiet: bool
) -> ExitCode:
    """Score, write what was asked for, and return the exit code."""
    options, files = chosen.options, chosen.run
    if options.csv_safe and files.to is None and files.output_format != CSV:
        raise UsageError("--csv-safe is for --to csv and --output-format csv")
    others = [files.output, options.companion, options.config, recipe]
    prints_results = files.to is not None and files.output in (None, "-")
    reports = ReportFiles(
        files.report, Scores, [*files.inputs, *others], prints_data=prints_results
    )
    pictures = PlotFiles(
        files.plots,
        "score",
        [fspath(one) for one in files.inputs],
        [*others, *reports.paths],
        exclude=options.exclude,
    )
    # Without results to write it is for what is printed.
    is_of_results = files.to is not None or files.output_format != CSV
    options = replace(
        options,
        progress=progress.update,
        csv_safe=options.csv_safe and is_of_results,
    )
    run = scoring_of(
        files.inputs or ["-"], files.to, files.output, options, pictures.observers
    )
    pictures.check_labels(are_scored=run.may_score_labels)
    print_problems(reports.keeping(run), progress)
    found = run.scores()
    scores = replace(found, said=(*chosen.notes, *found.said))
    code = print_scores(scores, files, csv_safe=chosen.options.csv_safe, quiet=quiet)
    reports.write(scores, ReportOptions())
    pictures.write(scores, is_whole=scores.is_whole)
    return code


def print_scores(
    scores: Scores, files: ScoreRun, *, csv_safe: bool, quiet: bool
) -> ExitCode:
    """Print the scores, or why there are none; return the exit code.

    They go to standard error beside results in a file.
    """
    failures = scores.report.failures
    print_unread(scores.report)
    is_extra, form = files.to is not None, files.output_format
    lines: Iterable[str]
    if form != TABLE:
        lines = map(shown_data, form_lines(scores, form, csv_safe=csv_safe))
    else:
        stream = sys.stderr if is_extra else sys.stdout
        lines = score_lines(scores, stream) if scores.is_whole else iter(())
    text = "".join(f"{line}\n" for line in lines)
    if not is_extra:
        text_writer(sys.stdout)(text)
    elif not quiet:
        write_stderr(text, is_fitted=form != TABLE)
    if scores.is_whole:
        print_notes(scores.said)
        for name in scores.outputs:
            write_stderr(f"{name}: written\n")
    elif scores.report.lacks_records:
        write_stderr("no overall score: there are too few records\n")
    elif any(file.invalid for file in scores.report.files):
        write_stderr(
            "no overall score: some rows are not valid; --skip-invalid skips them\n"
        )
    elif not failures:
        write_stderr("no overall score: see above\n")
    return exit_code_of(scores.report, ok=scores.ok)
