"""`harpia-formats score`, `score compare` and `score agreement`."""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.api.options import options_of
from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems, print_unread
from harpia_formats.cli.report import ReportFiles
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
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
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.tables import CSV, TABLE, form_lines, tables_of

if TYPE_CHECKING:  # most runs draw nothing: start-up time
    from harpia_formats.evaluation.figures.picture_files import PictureFiles
    from harpia_formats.evaluation.scoring.results.compare_report import (
        ComparisonReport,
    )
    from harpia_formats.evaluation.scoring.results.scores import Scores


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
    from harpia_formats.evaluation.scoring.answers import split_names  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.results.scores import Scores  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.scoring_run import Scoring  # noqa: PLC0415 - for this command only

    if given.list_metrics:
        return _print_metrics()
    if given.plan is not None:
        return score_plan(given)
    inputs, systems = split_names(given.paths, are_folders=given.are_systems)
    options = given.options(ScoreOptions, systems=systems)
    if given.print_plan:
        return print_plan(given, inputs, options)
    progress = given.progress(inputs, options.exclude)
    if options.csv_safe and given.to is None and given.output_format != CSV:
        raise UsageError("`--csv-safe` is for `--to csv` and `--output-format csv`")
    others = [given.output, options.companion, options.config]
    prints_results = given.to is not None and given.output in (None, "-")
    reports = ReportFiles(
        given.report, Scores, [*inputs, *others], prints_data=prints_results
    )
    pictures = PlotFiles(
        given.plots,
        "score",
        [fspath(one) for one in inputs],
        [*others, *reports.paths],
        exclude=options.exclude,
    )
    # Without results to write it is for what is printed.
    is_of_results = given.to is not None or given.output_format != CSV
    options = replace(
        options,
        progress=progress.update,
        csv_safe=options.csv_safe and is_of_results,
    )
    run = Scoring(inputs or ["-"], given.to, given.output, options)
    pictures.check_labels(are_scored=run.may_score_labels)
    print_problems(reports.keeping(run), progress)
    scores = run.scores()
    code = print_scores(scores, given, is_extra=given.to is not None)
    reports.write(scores, ReportOptions())
    pictures.write(scores, is_whole=scores.is_whole)
    return code


def _print_metrics() -> ExitCode:
    """Print a line on each metric that can be named; raises `PluginError`."""
    from harpia_formats.evaluation.scoring.measures.profiles import listed_metrics  # noqa: PLC0415 - for this option only

    parts = (
        "".join([f"{kind}:\n", *(f"  {name:<19} {about}\n" for name, about in names)])
        for kind, names in listed_metrics()
    )
    text_writer(sys.stdout)("\n".join(parts))
    return ExitCode.OK


#: What a plan has no place for, by the fields of the command line, and what it states.
_NOT_IN_PLANS = frozenset(
    "to output overwrite by config names constants model min_records "
    "skip_unrecognised redact encoding stdin_filename".split()
)
_STATED = frozenset({"paths", "are_systems", "print_plan"})


def _refuse(given: Given, fields: Collection[str]) -> None:
    """Raise `UsageError` for the first of some fields that was given with a plan."""
    was_given = set(map(_field_of, given.was_given))
    for option in options_of("score"):
        if option.field in was_given.intersection(fields):
            shown = f"`{option.words[0]}`" if option.words else "the files"
            raise UsageError(f"a plan makes one table: leave out {shown}")


def _check_csv_safe(given: Given, form: str) -> None:
    """Raise `UsageError` for --csv-safe if the table is printed in another form."""
    if given.csv_safe and form != CSV:
        raise UsageError("`--csv-safe` is for `--output-format csv`")


def score_plan(given: Given) -> ExitCode:
    """Score the systems of a plan on its benchmarks, and print them as one table.

    Options of the command line replace those of the whole plan.
    """
    from harpia_formats.api.plan_file import load_plan, option_keys  # noqa: PLC0415 - few runs have a plan
    from harpia_formats.cli.score_table import published_lines  # noqa: PLC0415 - few runs have a plan
    from harpia_formats.evaluation.scoring.benchmarks import (  # noqa: PLC0415 - few runs have a plan
        BenchmarkRun,
        BenchmarkScores,
    )

    _refuse(given, _NOT_IN_PLANS | _STATED)
    known = {one.field for one in option_keys().values()}
    fields = {_field_of(one) for one in given.was_given}
    changes = {name: getattr(given, name) for name in known & fields}
    progress = given.progress([])
    loaded = load_plan(given.plan, changes | {"progress": progress.update})
    form = given.output_format if "output_format" in fields else loaded.output_format
    _check_csv_safe(given, form)
    run = BenchmarkRun(loaded.plan)
    reports = ReportFiles(
        given.report or loaded.report, BenchmarkScores, [*run.paths, given.plan]
    )
    pictures = PlotFiles(
        given.plots or loaded.plot,
        "score plan",
        run.paths,
        [given.plan, *reports.paths],
    )
    print_problems(reports.keeping(run), progress)
    found = run.report()
    every = [report for one in found.benchmarks for report in one.reports]
    print_unread(*every)
    print_unread(run.left_out)
    lines: Iterable[str] = ()
    if form == TABLE and found.is_whole:
        lines = published_lines(tables_of(found), sys.stdout)
    elif form != TABLE and (found.is_whole or form == "json"):
        lines = map(shown_data, form_lines(found, form, csv_safe=given.csv_safe))
    text_writer(sys.stdout)("".join(f"{line}\n" for line in lines))
    if not found.is_whole:
        write_stderr("no table: some rows are not valid; see above\n")
    elif not given.quiet:
        print_notes(found.notes)
    reports.write(found, ReportOptions())
    pictures.write(found, is_whole=found.is_whole)
    return exit_code_of(*every, ok=found.ok)


def _field_of(name: str) -> str:
    """Return the field of an option that was given, such as `from_` for `from`."""
    found = name.replace("-", "_")
    return "from_" if found == "from" else found


def print_plan(given: Given, inputs: Sequence[str], options: ScoreOptions) -> ExitCode:
    """Print the plan that a command line means. Raises `HarpiaFormatsError`."""
    from harpia_formats.api.plan_file import LoadedPlan, plan_text  # noqa: PLC0415 - few runs print a plan
    from harpia_formats.evaluation.scoring.benchmarks import (  # noqa: PLC0415 - few runs print a plan
        Benchmark,
        BenchmarkScores,
        Plan,
        SystemSearch,
    )
    from harpia_formats.evaluation.scoring.scoring_run import Scoring  # noqa: PLC0415 - for this command only

    _refuse(given, _NOT_IN_PLANS | {"csv_safe"})
    if not inputs:
        raise UsageError("name the files whose answers are scored")
    # Options that `score` refuses, and outputs that a plan does not write, are no plan.
    Scoring(inputs, options=options)
    reports = ReportFiles(given.report, BenchmarkScores, inputs)
    PlotFiles(given.plots, "score plan", inputs, reports.paths, exclude=options.exclude)
    progress = given.progress(inputs, options.exclude)
    search = SystemSearch(inputs, replace(options, progress=progress.update))
    print_problems(iter(search), progress)
    print_unread(search.report)
    if not search.is_whole:
        write_stderr("no plan: not all rows could be read; see above\n")
        return exit_code_of(search.report, ok=False)
    benchmark = Benchmark("all", replace(options, systems={}))
    loaded = LoadedPlan(
        Plan(tuple(search.systems()), (benchmark,)),
        given.output_format,
        given.report,
        given.plots,
    )
    text_writer(sys.stdout)(plan_text(loaded))
    if not given.quiet:
        print_notes(search.notes)
    return exit_code_of(search.report, ok=search.report.ok_without_invalid)


def print_scores(scores: "Scores", given: Given, *, is_extra: bool) -> ExitCode:
    """Print the scores, or why there are none; return the exit code.

    They go to standard error if they are `is_extra`, since the results go to a file.
    """
    from harpia_formats.cli.score_table import score_lines  # noqa: PLC0415 - for this command only

    failures = scores.report.failures
    print_unread(scores.report)
    form = given.output_format
    lines: Iterable[str]
    if form != TABLE:
        lines = map(shown_data, form_lines(scores, form, csv_safe=given.csv_safe))
    else:
        stream = sys.stderr if is_extra else sys.stdout
        lines = score_lines(scores, stream) if scores.is_whole else iter(())
    text = "".join(f"{line}\n" for line in lines)
    if not is_extra:
        text_writer(sys.stdout)(text)
    elif not given.quiet:
        write_stderr(text, is_fitted=form != TABLE)
    if scores.is_whole:
        print_notes(scores.notes)
        for name in scores.outputs:
            write_stderr(f"{safe(name, MESSAGE_LIMIT)}: written\n")
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
    from harpia_formats.evaluation.scoring.answers import split_names  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison  # noqa: PLC0415 - for this command only
    from harpia_formats.evaluation.scoring.results.compare_report import (  # noqa: PLC0415 - for this command only
        ComparisonReport,
        check_difference,
        with_questions_needed,
    )

    inputs, systems = split_names(given.inputs, are_folders=given.are_systems)
    if not inputs:
        raise UsageError("name the files whose answers are compared")
    options = given.options(ScoreOptions, systems=systems)
    check_difference(given.detect)
    progress = given.progress(inputs, options.exclude)
    _check_csv_safe(given, given.output_format)
    reports = ReportFiles(given.report, ComparisonReport, [*inputs, options.companion])
    pictures = PlotFiles(
        given.plots,
        "score compare",
        inputs,
        [options.companion, *reports.paths],
        exclude=options.exclude,
    )
    run = ScoreComparison(
        inputs,
        replace(options, csv_safe=False, progress=progress.update),
        given.models,
        given.test,
        given.baseline,
        force=given.force,
    )
    print_problems(reports.keeping(run), progress)
    found = with_questions_needed(run.report(), given.detect)
    reports.write(found, ReportOptions())
    form = given.output_format
    if form == TABLE:
        lines = comparison_lines(found, sys.stdout)
    else:
        lines = map(shown_data, form_lines(found, form, csv_safe=options.csv_safe))
    # Programs that read JSON get the report on inputs that could not be read, too.
    code = _print_comparison(found, lines, is_json=form == "json")
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
    print_notes(found.notes)
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
    from harpia_formats.evaluation.scoring.agreement import FIELD, Agreement  # noqa: PLC0415 - for this command only

    if not given.inputs:
        raise UsageError("name the files whose labels are compared")
    _check_csv_safe(given, given.output_format)
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
    return print_scores(run.scores(), given, is_extra=False)


def _labels_of(definition: Path, fields: Sequence[str]) -> tuple[object, ...]:
    """Return the labels that the definition of a judge declares, in their order."""
    from harpia_formats.evaluation.llm_judge.judge_definition import (  # noqa: PLC0415 - few runs read a definition
        declared_labels,
    )
    from harpia_formats.evaluation.llm_judge.verdicts import JudgeError  # noqa: PLC0415 - few runs read a definition

    try:
        return declared_labels(definition, fields)
    except JudgeError as error:
        raise UsageError(str(error)) from error
