"""`harpia-formats score`, `score compare` and `score agreement`."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harpia_formats.api.recipe_keys import (
    COMMANDS,
    OTHER_NAMES,
    Applied,
    CompareRun,
    ScoreRun,
)
from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems, print_unread
from harpia_formats.cli.report import ReportFiles
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    exit_code_of,
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.model.result import Result
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form, form_lines

if TYPE_CHECKING:  # most runs draw nothing: start-up time
    from harpia_formats.evaluation.figures.picture_files import PictureFiles
    from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
    from harpia_formats.evaluation.scoring.scores import Scores


def with_recipe(
    name: str, path: str | None, options: ScoreOptions, run: Any, given: Given
) -> Any:
    """Return the options of the command `name` with those of the recipe at `path`.

    It is an `Applied`. Raises `RecipeError`, `ScoreError` and `SinkError`.
    """
    if path is None:
        return Applied(options, run)
    from harpia_formats.api.apply_recipe import apply_recipe  # noqa: PLC0415 - most runs have no recipe
    from harpia_formats.api.recipe_file import read_recipe  # noqa: PLC0415 - most runs have no recipe

    command = next(one for one in COMMANDS if one.name == name)
    recipe = read_recipe(path, command)
    names = {OTHER_NAMES.get(one, one) for one in given.was_given}
    applied = apply_recipe(recipe, command, options, run, names)
    _check_output(path, applied.run)
    return applied


def _check_output(path: str, run: Any) -> None:
    """Raise `SinkError` if a recipe would be replaced by what the run writes."""
    from harpia_formats.files.io.outputs import FilesRead  # noqa: PLC0415 - most runs have no recipe

    output = getattr(run, "output", "-")
    if output != "-":
        FilesRead((), [path]).check(output)


def print_recipe(name: str, options: ScoreOptions, run: Any) -> ExitCode:
    """Print options of the command `name` as a recipe. Raises `HarpiaFormatsError`."""
    from harpia_formats.api.apply_recipe import recipe_text  # noqa: PLC0415 - most runs print no recipe

    command = next(one for one in COMMANDS if one.name == name)
    text_writer(sys.stdout)(recipe_text(command, options, run))
    return ExitCode.OK


class PlotFiles:
    """The files for pictures of one run, which appear together once it is done."""

    _files: "PictureFiles | None" = None

    def __init__(
        self,
        given: Iterable[str] | None,
        command: str,
        inputs: Sequence[str],
        others: Iterable[Any] = (),
        *,
        exclude: Sequence[str] = (),
    ) -> None:
        """Take the values of `--plot`, the command, its inputs and its other files.

        Raises `FigureError` or `SinkError` for a picture that cannot be drawn or
        written.
        """
        if given:
            from harpia_formats.evaluation.figures.picture_files import (  # noqa: PLC0415 - most runs draw nothing: start-up time
                PictureFiles,
                picture_file,
            )
            from harpia_formats.files.io.outputs import FilesRead  # noqa: PLC0415 - most runs draw nothing: start-up time
            from harpia_formats.formats.registry import all_unpackers  # noqa: PLC0415 - most runs draw nothing: start-up time

            reads = FilesRead(inputs, exclude=exclude, unpackers=all_unpackers())
            files = [picture_file(text, command) for text in given]
            self._files = PictureFiles(files, reads, others)

    def check_labels(self, *, are_scored: bool) -> None:
        """Raise `FigureError` if a picture needs labels, and none `are_scored`."""
        if self._files is not None and not are_scored:
            self._files.check_labels()

    def write(self, result: Result, *, is_whole: bool) -> None:
        """Draw a result, and tell what is not drawn; raises `SinkError`.

        Nothing is drawn unless it `is_whole`.
        """
        if self._files is None:
            return
        if not is_whole:
            write_stderr("no picture: there is no result to draw\n")
            return
        print_notes(self._files.write(result))


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
    from harpia_formats.evaluation.scoring.input_files import split_names  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.scores import Scores  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.stored_run import scoring_of  # noqa: PLC0415 - for this command only

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
        raise UsageError("`--csv-safe` is for `--to csv` and `--output-format csv`")
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
    run = scoring_of(files.inputs or ["-"], files.to, files.output, options)
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
    scores: "Scores", files: ScoreRun, *, csv_safe: bool, quiet: bool
) -> ExitCode:
    """Print the scores, or why there are none; return the exit code.

    They go to standard error beside results in a file.
    """
    from harpia_formats.cli.score_table import score_lines  # noqa: PLC0415 - for this command only

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
            "no overall score: some rows are not valid; `--on-invalid skip` "
            "leaves them out\n"
        )
    elif not failures:
        write_stderr("no overall score: see above\n")
    return exit_code_of(scores.report, ok=scores.ok)


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
    from harpia_formats.cli.comparison_table import comparison_lines  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.compare_report import (  # noqa: PLC0415 - for this command only
        ComparisonReport,
        check_difference,
        with_questions_needed,
    )
    from harpia_formats.evaluation.scoring.compare_runs import comparison_of  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.input_files import split_names  # noqa: PLC0415 - for this command only

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
        raise UsageError("`--csv-safe` is for `--output-format csv`")
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
    found: "ComparisonReport", lines: Iterator[str], *, is_json: bool
) -> ExitCode:
    """Print the lines of a comparison, or why there is none; return the exit code."""
    from harpia_formats.cli.comparison_table import unpaired_lines  # noqa: PLC0415 - for this command only

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


def score_agreement(given: Given) -> ExitCode:
    """Tell how far two judges agree, or a judge with the labels of records.

    It is the share of equal labels and Cohen's kappa, with intervals by question.
    Answers are paired by the ids, prompts and references of their records, and by model
    and index. Without --field the value `score` of verdicts is the label.

    Exit codes:
    - 0: computed
    - 1: a row is not valid and not skipped, or kappa is not defined
    - 2: something could not be read or computed
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats score agreement first.jsonl second.jsonl
    - harpia-formats score agreement rows.jsonl --field references --field outputs
    - harpia-formats score agreement a.jsonl b.jsonl --labels yes,no --weights linear
    """
    from harpia_formats.evaluation.scoring.agreement import Agreement  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.rater_labels import FIELD  # noqa: PLC0415 - for this command only

    if not given.inputs:
        raise UsageError("name the files whose labels are compared")
    if given.csv_safe and given.output_format != CSV:
        raise UsageError("`--csv-safe` is for `--output-format csv`")
    progress = given.progress(given.inputs)
    options = given.options(
        ScoreOptions,
        csv_safe=False,
        progress=progress.update,
    )
    names: tuple[object, ...] = given.labels
    if given.definition is not None:
        if names:
            raise UsageError("`--labels` and `--definition` cannot be combined")
        names = _labels_of(given.definition, given.fields or (FIELD,))
    run = Agreement(given.inputs, options, given.fields, names, given.weights)
    print_problems(iter(run), progress)
    shown = ScoreRun(given.inputs, output_format=cast("Form", given.output_format))
    return print_scores(run.scores(), shown, csv_safe=given.csv_safe, quiet=given.quiet)


def _labels_of(definition: Path, fields: Sequence[str]) -> tuple[object, ...]:
    """Return the labels that the definition of a judge declares, in their order."""
    from harpia_formats.evaluation.llm_judge.judge_definition import (  # noqa: PLC0415 - few runs read a definition
        declared_labels,
    )
    from harpia_formats.evaluation.llm_judge.judge_errors import JudgeError  # noqa: PLC0415 - few runs read a definition

    try:
        return declared_labels(definition, fields)
    except JudgeError as error:
        raise UsageError(str(error)) from error
