"""`harpia-formats score`."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from os import fspath
from typing import cast

from harpia_formats.api.recipes.table import ScoreRun
from harpia_formats.cli.exit_codes import ExitCode, UsageError, exit_code_of
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.options.recipes import (
    print_recipe,
    with_recipe,
)
from harpia_formats.cli.output.plot_files import PlotFiles
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.score_table import score_lines
from harpia_formats.cli.output.streams import (
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.scoring.nameless_files import split_names
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.evaluation.scoring.stored_run import scoring_of
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form, form_lines


def score(given: Given) -> ExitCode:
    """Score stored answers, and write the results in a vendor's format.

    Every score has a signature: how it was computed. The table goes to standard
    output, or to standard error if results are written.
    `harpia-formats score compare A B` compares systems on the same questions.

    Exit codes:
    - 0: scored
    - 1: a row is not valid and not skipped, or a metric has no score
    - 2: something could not be read, computed or written
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats score answers.jsonl
    - harpia-formats score answers.jsonl -m em,f1 --by category
    - harpia-formats score answers.jsonl --to nemo-results -o results.json
    """
    inputs, systems = split_names(given.paths)
    options = given.options(
        ScoreOptions,
        systems=systems,
    )
    files = ScoreRun(
        tuple(inputs),
        given.to,
        given.output,
        given.report,
        given.plots,
        cast("Form", given.output_format),
    )
    chosen = with_recipe("score", given.recipe, options, files, given)
    if given.show_recipe:
        return print_recipe("score", chosen.options, chosen.run)
    progress = given.progress(chosen.run.inputs, chosen.options.exclude)
    options, files = chosen.options, chosen.run
    if options.csv_safe and files.to is None and files.output_format != CSV:
        raise UsageError("--csv-safe is for --to csv and --output-format csv")
    others = [files.output, options.companion, options.config, given.recipe]
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
    code = print_scores(
        scores, files, csv_safe=chosen.options.csv_safe, quiet=given.quiet
    )
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
            "no overall score: some rows are not valid; --on-invalid skip "
            "leaves them out\n"
        )
    elif not failures:
        write_stderr("no overall score: see above\n")
    return exit_code_of(scores.report, ok=scores.ok)
