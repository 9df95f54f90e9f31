"""`harpia-formats score compare`."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from os import fspath
from typing import cast

from harpia_formats.api.recipes.table import Applied, CompareRun
from harpia_formats.cli.exit_codes import ExitCode, UsageError, exit_code_of
from harpia_formats.cli.options.common import (
    ClusterTimeout,
    ColumnsOrKeys,
    CsvSafe,
    Delimiter,
    Engine,
    Exclude,
    FromCsvSafe,
    Jobs,
    Quiet,
    ReadWith,
    Redact,
    ReportOption,
    ShowProgress,
    SkipInvalid,
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
    BaselineSystem,
    ComparedFormat,
    ComparedInputs,
    ComparedModels,
    ComparisonLevel,
    ComparisonPlots,
    ComparisonReplicates,
    Detect,
    Force,
    Metrics,
    Missing,
    Parameters,
    Pool,
    Profile,
    ScoreFormat,
    Seed,
    SkipUnknown,
    Stored,
    Test,
    metrics_of,
    parameters_of,
)
from harpia_formats.cli.options.values import column_map
from harpia_formats.cli.output.comparison_table import (
    comparison_lines,
    unpaired_lines,
)
from harpia_formats.cli.output.plot_files import PlotFiles
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import print_notes, shown_data, text_writer
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.evaluation.scoring.bootstrap import LEVEL, REPLICATES, SEED
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.comparison_of import comparison_of
from harpia_formats.evaluation.scoring.nameless_files import split_names
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.questions_needed import (
    check_difference,
    with_questions_needed,
)
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form, form_lines


def score_compare(  # noqa: PLR0913 - one parameter for each option of the command
    context: Context,
    inputs: ComparedInputs = None,
    *,
    recipe: RecipeFile = None,
    show_recipe: ShowRecipe = False,
    metrics: Metrics = None,
    profile: Profile = None,
    parameters: Parameters = None,
    skip_unknown: SkipUnknown = False,
    from_: ComparedFormat = None,
    exclude: Exclude = None,
    companion: ReadWith = None,
    stored: Stored = False,
    force: Force = False,
    models: ComparedModels = None,
    pool: Pool = False,
    baseline: BaselineSystem = None,
    reference_from: ReferencesFrom = ReferenceFrom.REFERENCES,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    skip_invalid: SkipInvalid = False,
    missing: Missing = "skip",
    test: Test = None,
    detect: Detect = None,
    output_format: ScoreFormat = TABLE,
    csv_safe: CsvSafe = False,
    level: ComparisonLevel = LEVEL,
    replicates: ComparisonReplicates = REPLICATES,
    seed: Seed = SEED,
    report: ReportOption = None,
    plots: ComparisonPlots = None,
    jobs: Jobs = 0,
    engine: Engine = None,
    cluster_timeout: ClusterTimeout = CLUSTER_TIMEOUT,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Compare the scores of systems on the same questions: all pairs of them.

    A system is a model in one of the inputs; an input that names no model is one, too,
    or a part of one if such inputs share no question.
    Questions are paired by the id, the prompt and the references of their records. The
    p-value is two-sided: the chance of a difference this large if the systems were
    equal. Intervals and tests are by question, however many answers a question has.

    Exit codes:
    - 0: compared
    - 1: a row is not valid and not skipped, or a metric has no result
    - 2: something could not be read or computed, no two systems share a question, or
      stored scores were computed differently
    - 3: a bug in harpia-formats
    """
    paths, systems = split_names(inputs or ())
    options = ScoreOptions(
        from_=from_,
        exclude=tuple(exclude or ()),
        companion=companion,
        metrics=metrics_of(metrics),
        skip_unknown=skip_unknown,
        stored=stored,
        systems=systems,
        pool=pool,
        profile=profile,
        parameters=parameters_of(parameters),
        reference_from=reference_from,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        csv_safe=csv_safe,
        on_invalid="skip" if skip_invalid else "fail",
        missing=missing,
        redact=redact,
        level=level,
        replicates=replicates,
        seed=seed,
        jobs=jobs,
        engine=engine,
        cluster_timeout=cluster_timeout,
    )
    files = CompareRun(
        tuple(paths),
        tuple(models or ()),
        baseline,
        test,
        detect,
        force,
        tuple(report or ()),
        tuple(plots or ()),
        cast("Form", output_format),
    )
    chosen = with_recipe("score compare", recipe, options, files, context)
    check_difference(chosen.run.detect)
    if show_recipe:
        return print_recipe("score compare", chosen.options, chosen.run)
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=chosen.run.inputs,
        exclude=chosen.options.exclude,
    )
    return _compare(chosen, progress, recipe)


def _compare(
    chosen: Applied[CompareRun], progress: Progress, recipe: str | None
) -> ExitCode:
    """Compare, write what was asked for, and return the exit code."""
    files = chosen.run
    csv_safe = chosen.options.csv_safe
    options = replace(chosen.options, csv_safe=False, progress=progress.update)
    inputs = [fspath(one) for one in files.inputs]
    if not inputs:
        raise UsageError("name the files whose answers are compared")
    if csv_safe and files.output_format != CSV:
        raise UsageError("--csv-safe is for --output-format csv")
    others = [options.companion, recipe]
    reports = ReportFiles(files.report, ComparisonReport, [*inputs, *others])
    pictures = PlotFiles(
        files.plots,
        "score compare",
        inputs,
        [*others, *reports.paths],
        exclude=options.exclude,
    )
    run = comparison_of(
        inputs,
        options,
        files.models,
        files.test,
        files.baseline,
        force=files.force,
    )
    print_problems(reports.keeping(run), progress)
    report = with_questions_needed(run.report(), files.detect)
    found = replace(report, said=(*chosen.notes, *report.said))
    reports.write(found, ReportOptions())
    if files.output_format == TABLE:
        lines = comparison_lines(found, sys.stdout)
    else:
        form = files.output_format
        lines = map(shown_data, form_lines(found, form, csv_safe=csv_safe))
    # Programs that read JSON get the report on inputs that could not be read, too.
    code = _print_comparison(found, lines, is_json=files.output_format == "json")
    pictures.write(found, is_whole=bool(found.compared))
    return code


def _print_comparison(
    found: ComparisonReport, lines: Iterator[str], *, is_json: bool
) -> ExitCode:
    """Print the lines of a comparison, or why there is none; return the exit code."""
    failures = [file for report in found.reports for file in report.failures]
    print_unread(*found.reports)
    is_bad = failures or any(report.has_internal_errors for report in found.reports)
    if is_json or (found.compared and not is_bad):
        text_writer(sys.stdout)("".join(f"{line}\n" for line in lines))
    if is_bad:
        return exit_code_of(*found.reports, ok=False)
    print_notes(found.said)
    print_notes(unpaired_lines(found))
    return ExitCode.OK if found.ok else ExitCode.FOUND
