"""`harpia-formats score compare`."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from os import fspath
from typing import cast

from harpia_formats.api.recipes.table import CompareRun
from harpia_formats.cli.exit_codes import ExitCode, UsageError, exit_code_of
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.options.recipes import (
    print_recipe,
    with_recipe,
)
from harpia_formats.cli.output.comparison_table import (
    comparison_lines,
    unpaired_lines,
)
from harpia_formats.cli.output.plot_files import PlotFiles
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.report_files import ReportFiles
from harpia_formats.cli.output.streams import print_notes, shown_data, text_writer
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.comparison_of import comparison_of
from harpia_formats.evaluation.scoring.nameless_files import split_names
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.questions_needed import (
    check_difference,
    with_questions_needed,
)
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form, form_lines


def score_compare(given: Given) -> ExitCode:
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

    For example:
    - harpia-formats score compare a.jsonl b.jsonl
    - harpia-formats score compare new=a.jsonl old=b.jsonl --baseline old
    - harpia-formats score compare a.jsonl b.jsonl -m f1 --detect 0.02
    """
    paths, systems = split_names(given.inputs)
    options = given.options(
        ScoreOptions,
        systems=systems,
    )
    files = CompareRun(
        tuple(paths),
        given.models,
        given.baseline,
        given.test,
        given.detect,
        given.force,
        given.report,
        given.plots,
        cast("Form", given.output_format),
    )
    chosen = with_recipe("score compare", given.recipe, options, files, given)
    check_difference(chosen.run.detect)
    if given.show_recipe:
        return print_recipe("score compare", chosen.options, chosen.run)
    progress = given.progress(chosen.run.inputs, chosen.options.exclude)
    files = chosen.run
    csv_safe = chosen.options.csv_safe
    options = replace(chosen.options, csv_safe=False, progress=progress.update)
    inputs = [fspath(one) for one in files.inputs]
    if not inputs:
        raise UsageError("name the files whose answers are compared")
    if csv_safe and files.output_format != CSV:
        raise UsageError("--csv-safe is for --output-format csv")
    others = [options.companion, given.recipe]
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
