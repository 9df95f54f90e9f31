"""The Python functions of `harpia_formats`, with their documentation.

Each takes its options by their names in the table of options, from which the package
builds the signature that users see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harpia_formats.api.options import fields_of

if TYPE_CHECKING:  # each function imports what it needs when it is called
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, BinaryIO, TypeVar

    from harpia_formats.api.answers import Answers
    from harpia_formats.api.arguments import Input, Path, Records
    from harpia_formats.api.arguments import Output as Destination
    from harpia_formats.conversion.comparison.comparison_report import DifferenceReport
    from harpia_formats.conversion.losses.conversion_report import ConversionReport
    from harpia_formats.conversion.subsets.subset_options import Subset
    from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
    from harpia_formats.evaluation.scoring.results.compare_report import (
        ComparisonReport,
    )
    from harpia_formats.evaluation.scoring.results.scores import Scores
    from harpia_formats.evaluation.statistics.statistics_result import Statistics
    from harpia_formats.formats.detection.result import Detected
    from harpia_formats.model.problem import (
        Problem,
    )
    from harpia_formats.model.record import Record
    from harpia_formats.model.report import Report
    from harpia_formats.model.result import Result
    from harpia_formats.validation.inferred_schema import InferredSchema
    from harpia_formats.validation.repair.run import FixReport

    Function = TypeVar("Function", bound=Callable[..., Any])


def _in_python_words(function: Function) -> Function:
    """Return a public function whose errors and results name arguments, not options."""

    def call(*given: Any, **named: Any) -> Any:
        from harpia_formats.api.keyword_options import in_python_words

        return in_python_words(function, given, named)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(call, name, getattr(function, name))
    call.__annotations__ = function.__annotations__
    call.__wrapped__ = function  # type: ignore[attr-defined]  # as functools.wraps does
    return call  # type: ignore[return-value]  # it has the signature of `function`


@_in_python_words
def validate(*inputs: Input, **options: Any) -> Report:
    """Validate `inputs` and return the report.

    An input is a path, a folder, a pattern, a URL, `-` for standard input, bytes, an
    open binary file, or a list of dictionaries, which are rows. The options are the
    fields of `harpia_formats.validation.options.Options`, such as `format="eee@0.2.0"`,
    `schema="mine.json"`, `select=("J", "S")`, `examples=0`, `limit=1000`. It runs in
    one process unless `jobs`, `executor` or `engine` is given.

    A file that cannot be read is reported in the report. Raises `UnknownFormat`,
    `UnknownRule`, `SchemaError`, `CompanionError`, `MapError`, `EngineError` or
    `ValueError` for an option that cannot be used, `ValueError` if there is no input,
    and `TypeError` for an unknown option and for an input of another type.
    """
    from dataclasses import replace

    from harpia_formats.api.arguments import file_inputs, with_mapped_format
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.validation.options import Options
    from harpia_formats.validation.run import Validation

    files = file_inputs(inputs)
    given = with_mapped_format(files, _in_one_process(options))
    validation = Validation(files, make_options(Options, given))
    problems = tuple(validation)
    return replace(validation.report(), problems=problems)


def iter_problems(*inputs: Input, **options: Any) -> Iterator[Problem]:
    """Yield all problems of `inputs`, each as soon as it is found.

    The arguments and errors are those of `validate`, but `examples` and
    `max_problems` are 0 by default, so that nothing is left out. Raises
    `ValidationFailed` at the end if an input could not be read completely.
    """
    from harpia_formats.api.arguments import file_inputs, with_mapped_format
    from harpia_formats.api.keyword_options import (
        errors_for_python,
        make_options,
        reworded,
    )
    from harpia_formats.model.report import validation_failed
    from harpia_formats.validation.options import Options
    from harpia_formats.validation.run import Validation

    uncapped = {"examples": 0, "max_problems": 0, **options}
    with errors_for_python("iter_problems"):
        files = file_inputs(inputs)
        given = with_mapped_format(files, _in_one_process(uncapped))
        validation = Validation(files, make_options(Options, given))
        yield from (reworded(each, "iter_problems") for each in validation)
        report = validation.report()
        if report.failures:
            raise validation_failed(report)


def _in_one_process(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `options`, with one job unless there is an executor or an engine."""
    has_workers = options.get("executor") or options.get("engine")
    return dict(options) if has_workers else {"jobs": 1, **options}


@_in_python_words
def preflight(
    path: Path | Mapping[str, Any] = "preflight.toml",
    **options: Any,
) -> Report:
    """Check data sets by a preflight file, and return the report.

    `path` may be a dictionary with what the file would hold, such as
    `{"datasets": {"a": {"files": "a.jsonl", "min-records": 5}}}`; paths in a dictionary
    start from the working folder.

    Its `checks` are the expectations of the file with what was found, and it is `ok` if
    all of them are met. The options are the fields of
    `harpia_formats.expectations.preflight_plan.PreflightOptions`, such as
    `variables={"RUN": "2026-11-23"}`. The reports that the file names are not written:
    `write_report` writes one; the file that `state` names is written if all is well. It
    runs in one process unless `jobs`, `executor` or
    `engine` is given.

    A data file that cannot be read is reported in the report. Raises `PreflightError`
    for a file that cannot be used, or that expects what cannot be checked, `SinkError`
    for a `state` that cannot be written, `EngineError` or `ValueError` for an option
    that cannot be used, and `TypeError` for an unknown one.
    """
    from dataclasses import replace
    from os import PathLike, fspath

    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.expectations.preflight_file import plan_of_values, read_plan
    from harpia_formats.expectations.preflight_plan import PreflightOptions
    from harpia_formats.expectations.preflight_run import Preflight
    from harpia_formats.reporters.report_file import named_report

    chosen = make_options(PreflightOptions, _in_one_process(options))
    if isinstance(path, (str, PathLike)):
        plan = read_plan(fspath(path), chosen.variables, named_report)
    else:
        plan = plan_of_values(path, chosen.variables, named_report)
    run = Preflight(plan, chosen)
    problems = tuple(run)
    run.save_state()
    return replace(run.report(), problems=problems)


@_in_python_words
def check_schema(*inputs: Input, **options: Any) -> Report:
    """Check JSON Schemas for mistakes that validators do not report.

    Each input is one schema: a path, a folder, a pattern, a URL, `-` for standard
    input, bytes, an open binary file, or a dictionary. The options are the fields of
    `harpia_formats.validation.schema_check.SchemaCheckOptions`, such as
    `ignore=("S408",)`. What cannot be read is reported in the report. Raises
    `UnknownRule` or `ValueError` for an option that cannot be used, `ValueError` if
    there is no input, and `TypeError` for an unknown option and for an input of another
    type.
    """
    from dataclasses import replace

    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.validation.schema_check import SchemaCheck, SchemaCheckOptions

    check = SchemaCheck(file_inputs(inputs), make_options(SchemaCheckOptions, options))
    problems = tuple(check)
    return replace(check.report(), problems=problems)


@_in_python_words
def fix(
    *inputs: Input,
    unsafe: bool = False,
    diff: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> FixReport:
    """Repair and validate `inputs`, and return the changes and the remaining problems.

    The inputs and options are those of `validate`. Files are rewritten in place; one
    input of any kind goes to the path `output`, which is replaced if `overwrite`. With
    `unsafe`, repairs are made that can hide what was wrong, such as counts and hashes.
    With `diff` nothing is written, and the report has the changes as a unified diff.

    A file that cannot be repaired is in `failures` of the report. Raises `SinkError`
    for an output that cannot be written, `ValueError` for options that exclude each
    other, and what `validate` raises.
    """
    from harpia_formats.api.arguments import file_inputs, with_mapped_format
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.validation.options import Options
    from harpia_formats.validation.repair.repaired_file import FixOptions
    from harpia_formats.validation.repair.run import fixed

    files = file_inputs(inputs)
    given = with_mapped_format(files, _in_one_process(options))
    chosen = make_options(Options, given)
    wanted = FixOptions(unsafe=unsafe, diff=diff, output=output, overwrite=overwrite)
    return fixed(files, chosen, wanted)


@_in_python_words
def infer_schema(*inputs: Input, **options: Any) -> InferredSchema:
    """Infer a draft-07 schema from all rows of `inputs`; it is the result's `schema`.

    The inputs are those of `validate`; the options are the fields of
    `harpia_formats.validation.inferred_schema.InferOptions`, such as `enum_limit=0`.
    Raises `ValidationFailed` if an input cannot be read or a row is no JSON,
    `SchemaError` if there is no row, `ValueError` if there is no input or an option
    cannot be used, and `TypeError` for an unknown option and for an input of another
    type.
    """
    from dataclasses import replace

    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.validation.inferred_schema import InferOptions
    from harpia_formats.validation.schema_inference import Inference

    run = Inference(file_inputs(inputs), make_options(InferOptions, options))
    problems = tuple(run)
    found = run.result()
    found = replace(found, report=replace(found.report, problems=problems))
    found.raise_for_errors()
    return found


@_in_python_words
def detect(
    *inputs: Input,
    delimiter: str | None = None,
    exclude: str | Sequence[str] = (),
    redact: bool = False,
) -> tuple[Detected, ...]:
    """Return the format of each file in `inputs`, and the evidence for it.

    The inputs are those of `validate`; files that match a pattern of `exclude` are left
    out. Only the beginning of a file is read: 1,000 records or 8 MB. `delimiter` is
    that of tables, as in `validate`, and `redact` leaves out the evidence. A file that
    cannot be read has the reason in `reason`. Raises `ValueError` if there is no input,
    if `delimiter` is none or a pattern is empty, and `TypeError` for an input of
    another type.
    """
    from harpia_formats.api.arguments import file_inputs, several
    from harpia_formats.files.io.discovery import Exclusion, check_patterns
    from harpia_formats.files.io.inputs import checked_inputs
    from harpia_formats.formats.detection.detect_files import detect_files

    checked = checked_inputs(file_inputs(inputs))
    patterns = several("exclude", exclude)
    check_patterns(patterns)
    found = detect_files(checked, delimiter, Exclusion(patterns))
    if not redact:
        return tuple(found)
    from harpia_formats.validation.redaction.redacted_reports import redacted_detection

    return tuple(map(redacted_detection, found))


@_in_python_words
def convert(
    *inputs: Input,
    to: str | None = None,
    output: Destination = None,
    **options: Any,
) -> ConversionReport:
    """Convert `inputs` into the format `to`, and return the report of the conversion.

    The inputs are those of `validate`; `output` is a path, an open binary file, or None
    for standard output. `to` may be left out where the suffix of a path says it: "csv"
    for .csv and .tsv, "parquet" for .parquet, .arrow and .feather. The options are
    the fields of `harpia_formats.conversion.options.ConvertOptions`, such as
    `references="expand"`, `constants={"model": "org/m"}`, `on_loss="fail"`. It runs in
    one process unless `jobs`, `executor` or `engine` is given.

    A file at the path `output` appears only after all inputs were read and are valid.
    An open file is written to from the start. Raises `ValidationFailed`, with the
    report of the conversion as its `result`, if the output was not completed: an input
    cannot be read or is invalid, unless `on_invalid` says otherwise, or something would
    be lost under `on_loss="fail"`; and for an error that is none of a row, also if the
    other rows were written. Raises `ConversionError`, `EngineError`,
    `SinkError`, `UnknownFormat`, `MapError` or `ValueError` for a conversion that is
    not possible.
    """
    from dataclasses import replace

    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.conversion.options import ConvertOptions
    from harpia_formats.conversion.run import Conversion
    from harpia_formats.evaluation.filling_measure import filling_measure

    chosen = replace(
        make_options(ConvertOptions, _in_one_process(options)),
        filling_measure=filling_measure,
    )
    run = Conversion(file_inputs(inputs), to, output, chosen)
    problems = tuple(run)
    report = run.report()
    report = replace(report, report=replace(report.report, problems=problems))
    report.raise_for_errors()
    return report


@_in_python_words
def read(
    *inputs: Input,
    format: str | None = None,  # noqa: A002 - as in `validate`
    **options: Any,
) -> Records:
    """Return an iterator of the records of `inputs`, in any record format.

    The inputs are those of `validate`; the options are `columns`, `delimiter`,
    `exclude`, `skip_unrecognised`, `min_records` and `max_row_bytes`. Raises
    `ValidationFailed` at the first invalid row, after all records before it. Its
    `to_pandas()` and `to_polars()` return all records as a data frame, with the columns
    of `to_table`.
    """
    from harpia_formats.api.arguments import Records, file_inputs
    from harpia_formats.api.keyword_options import (
        in_words,
        make_options,
        with_own_names,
    )
    from harpia_formats.conversion.reading.reading_options import ReadingOptions
    from harpia_formats.conversion.reading.records import records_in

    known = fields_of("read")
    named = with_own_names({"format": format, **options}, {"format", *known})
    chosen = make_options(ReadingOptions, named, {"from_", *known})
    return Records(in_words(records_in(file_inputs(inputs), chosen)))


def write(
    records: Iterable[Record],
    *,
    to: str | None = None,
    output: Destination = None,
    **options: Any,
) -> ConversionReport:
    """Write `records` in the format `to`, and return the report of the conversion.

    `output`, the options and the errors are those of `convert`. Raises `OptionError`
    for a record with what JSON cannot hold, such as a lone surrogate or a NaN.
    """
    from harpia_formats.api.arguments import lines_of

    return convert(lines_of(records), to=to, output=output, from_="record", **options)


@_in_python_words
def write_report(
    result: Result, output: Path | BinaryIO, *, reporter: str | None = None
) -> None:
    """Write the result of a function to `output`, as a reporter such as "json" does.

    `output` is a path, a URL or an open binary file. Without `reporter` the suffix of
    a path decides. A file that is there is replaced. The findings are those that the
    result keeps as examples. Raises `ReportError` if there is no such reporter, or if
    it writes only what `validate` returns, `PluginError`, and `SinkError`.
    """
    from harpia_formats.api.results import write_result

    write_result(result, output, reporter)


@_in_python_words
def write_picture(
    result: Result, output: Path, *, kind: str | None = None
) -> tuple[str, ...]:
    """Draw scores, or a comparison of scores, into an SVG, PNG or PDF file.

    It returns what is not drawn, in sentences. Kinds of pictures are those of `--plot`;
    the first one is drawn if none is named. An earlier picture is replaced, and no
    other file. Raises `FigureError` if there is no such picture of the result, or if
    matplotlib (the extra `report`) is not installed, and `SinkError`.
    """
    from harpia_formats.api.results import draw_result

    return tuple(draw_result(result, output, kind))


def to_table(records: Iterable[Record]) -> Any:
    """Return `records` as a `pyarrow.Table` with a column for each field.

    The types of its columns are the same for any records, and `from_table` returns
    these exactly. Raises `HarpiaFormatsError` if the extra `arrow` is not installed.
    """
    from harpia_formats.api.arguments import table_of_records

    return table_of_records(records)


def to_pandas(records: Iterable[Record]) -> Any:
    """Return `records` as a pandas data frame with the columns of `to_table`.

    It does not need the extra `arrow`. What a record does not have is None. Raises
    `ImportError` if pandas is not installed.
    """
    from harpia_formats.api.arguments import frame_of_records

    return frame_of_records(records)


def to_polars(records: Iterable[Record]) -> Any:
    """Return `records` as a Polars data frame with the columns of `to_table`.

    Raises `ImportError` if polars is not installed, and `HarpiaFormatsError` if the
    extra `arrow` is not.
    """
    from harpia_formats.api.arguments import polars_of_records

    return polars_of_records(records)


@_in_python_words
def from_table(
    table: Any,
    *,
    format: str | None = None,  # noqa: A002 - as in `validate`
    **options: Any,
) -> Records:
    """Return an iterator of the records of a table in memory.

    It is what `to_table` returned, or has any columns.

    A table is a data frame of pandas or polars, a data set of `datasets`, a table of
    pyarrow, or anything else with `__arrow_c_stream__`; all functions take it as an
    input. The options and errors are those of `read`, and `TypeError` for what is no
    table.
    """
    from harpia_formats.api.arguments import table_input

    return read(table_input(table), format=format, **options)


@_in_python_words
def roundtrip(*inputs: Input, via: str, **options: Any) -> DifferenceReport:
    """Convert `inputs` into the format `via` and back; return what differs.

    Nothing is written. The options and errors are those of `convert` as far as they
    decide what becomes of a record; `on_invalid` is "fail" or "skip", and `constants`
    also give fields that the format `via` does not hold.
    """
    from dataclasses import replace

    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options, rendered_for_python
    from harpia_formats.conversion.comparison.round_trip import RoundTrip
    from harpia_formats.conversion.options import ConvertOptions
    from harpia_formats.evaluation.filling_measure import filling_measure

    run = RoundTrip(
        file_inputs(inputs),
        via,
        replace(
            make_options(ConvertOptions, options, fields_of("roundtrip")),
            filling_measure=filling_measure,
        ),
    )
    problems = tuple(run)
    report = _read_whole(run.report(), problems)
    for field in report.fields.values():
        field.reason = rendered_for_python(field.reason, "roundtrip")
    return report


@_in_python_words
def diff(
    left: Input,
    right: Input,
    *,
    to: str | None = None,
    **options: Any,
) -> DifferenceReport:
    """Compare two data sets of any formats record by record; return what differs.

    Records are matched by their ids, or by their prompts where one side has no ids.
    `from_` is the format of `left` and `to` that of `right`, detected if not given. The
    other options are `columns`, `delimiter`, `exclude`, `model`, `on_invalid` ("fail"
    or "skip"), `max_row_bytes`, `jobs` (one by default) and `progress` of `convert`.
    The errors are those of `convert`.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.conversion.comparison.diff import Comparison
    from harpia_formats.conversion.options import ConvertOptions

    run = Comparison(
        file_inputs([left]),
        file_inputs([right]),
        make_options(ConvertOptions, _in_one_process(options), fields_of("diff")),
        to,
    )
    problems = tuple(run)
    return _read_whole(run.report(), problems)


def _read_whole(
    found: DifferenceReport, problems: tuple[Problem, ...]
) -> DifferenceReport:
    """Return a comparison with its problems; raises `ValidationFailed`."""
    from dataclasses import replace

    if found.report is not None:
        found.report = replace(found.report, problems=problems)
    found.raise_for_errors()
    return found


@_in_python_words
def score(
    *inputs: Input,
    to: str | None = None,
    output: Destination = None,
    **options: Any,
) -> Scores:
    """Score the answers in `inputs`, and return the scores of the whole data set.

    The inputs are those of `validate`. If the format `to` is given, results are written
    to `output`: a path, an open binary file, or None for standard output. The options
    are the fields of `harpia_formats.evaluation.scoring.options.ScoreOptions`, such as
    `metrics=("em", "f1")`, `profile="squad"`, `by=("category",)`. With `stored=True`
    none is computed: the scores are those that the answers hold. It runs in one process
    unless `jobs`, `executor` or `engine` is given.

    Raises `ValidationFailed` if an input cannot be read, or has an invalid row and not
    `on_invalid="skip"`; `ScoreError` if an answer has no score, or a question too few
    answers for one, unless `missing` says how these count; and `ScoreError`,
    `EngineError`, `SinkError`, `UnknownFormat`, `MapError` or `ValueError` for a
    scoring that is not possible. What was left out is counted in `unscored` of each
    score and in `skipped`, and the first findings are in `problems`.
    """
    from harpia_formats.api.arguments import scored_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.evaluation.scoring.options import ScoreOptions
    from harpia_formats.evaluation.scoring.scoring_run import Scoring

    chosen = make_options(ScoreOptions, _in_one_process(options))
    run = Scoring(scored_inputs(inputs, chosen.systems), to, output, chosen)
    for _ in run:
        continue
    scores = run.scores()
    scores.raise_for_errors()
    return scores


@_in_python_words
def score_plan(plan: Path | Mapping[str, Any], **options: Any) -> BenchmarkScores:
    """Score systems on benchmarks as a plan states them, and return one table.

    `plan` is a file in TOML, as `harpia-formats score --plan` reads it, or a mapping
    like one: `systems` has the files of each system by its name, `benchmarks` for each
    its `files` (patterns of those of a system), `metrics` and `parameters`. `baseline`
    is the system from which differences are reported, and `mean` adds the mean over all
    benchmarks. The options are those of `score` that a whole plan may have; they
    replace its own. What the plan says of reports, pictures and output is not done
    here: `write_report` and `write_picture` take the result.

    Raises `PlanError` for what is no plan, and the errors of `compare_scores`.
    """
    from harpia_formats.api.keyword_options import make_options, with_own_names
    from harpia_formats.api.plan_file import load_plan
    from harpia_formats.evaluation.scoring.benchmarks import BenchmarkRun
    from harpia_formats.evaluation.scoring.options import ScoreOptions

    given = _in_one_process(options)
    known = fields_of("score_plan")
    chosen = make_options(ScoreOptions, given, known)
    names = with_own_names(given, known)
    run = BenchmarkRun(
        load_plan(plan, {one: getattr(chosen, one) for one in names}).plan
    )
    for _ in run:
        continue
    found = run.report()
    found.raise_for_errors()
    return found


@_in_python_words
def score_answers(*inputs: Input, **options: Any) -> Answers:
    """Return an iterator of the answers in `inputs`, each with its own scores.

    The inputs, options and errors are those of `score`; the errors are raised while the
    answers are read. Memory does not grow with their number. `to_pandas()` and
    `to_polars()` return all answers as a data frame, and after the last one `scores`
    has what `score` returns. A score of questions that needs several answers, such as
    `pass@2`, is None for each answer.
    """
    from harpia_formats.api.answers import Answers
    from harpia_formats.api.arguments import scored_inputs
    from harpia_formats.api.keyword_options import (
        errors_for_python,
        make_options,
    )
    from harpia_formats.evaluation.scoring.options import ScoreOptions

    with errors_for_python("score_answers"):
        chosen = make_options(ScoreOptions, _in_one_process(options))
        return Answers(scored_inputs(inputs, chosen.systems), chosen)


@_in_python_words
def compare_scores(
    *inputs: Input,
    models: str | Sequence[str] = (),
    baseline: str | None = None,
    test: str | None = None,
    detect: float | None = None,
    force: bool = False,
    **options: Any,
) -> ComparisonReport:
    """Score the answers of systems to the same questions, and compare the scores.

    A system is a model in one of the inputs, which are those of `validate`. Inputs
    without model names are systems if they share questions, and parts of one if they
    share none; `systems` names those of inputs by their paths, and `pool=True` takes
    all as one. All pairs
    of systems are compared, or all others with the one called `baseline`. `models`
    chooses systems by the names of their models, or `INPUT=MODEL` with the path of an
    input or its number from 1. Questions are paired by id, prompt and references;
    without ids by the other two. `test` is "permutation" or "bootstrap"; None
    is permutation for means and bootstrap for other scores. With `detect`,
    `questions_needed` of each score is how many questions detect this difference with a
    power of 80 percent.

    With `stored=True` the scores are those that the answers hold; `force` compares
    them although they may have been computed differently.

    The options are those of `score` but for groups and results: `by`, `csv_safe`,
    `constants`, `names` and `overwrite`. The errors are those of `score`; it also
    raises `ScoreError` if there are not two systems, if no two share a question, and if
    a score cannot be compared.
    """
    from harpia_formats.api.arguments import scored_inputs, several
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison
    from harpia_formats.evaluation.scoring.options import ScoreOptions
    from harpia_formats.evaluation.scoring.results.compare_report import (
        check_difference,
        with_questions_needed,
    )

    known = fields_of("compare_scores")
    chosen = make_options(ScoreOptions, _in_one_process(options), known)
    files = scored_inputs(inputs, chosen.systems)
    pair = several("models", models)
    run = ScoreComparison(files, chosen, pair, test, baseline, force=force)
    check_difference(detect)
    for _ in run:
        continue
    report = with_questions_needed(run.report(), detect)
    report.raise_for_errors()
    return report


@_in_python_words
def score_agreement(
    *inputs: Input,
    fields: str | Sequence[str] = (),
    labels: Sequence[object] = (),
    weights: str = "none",
    **options: Any,
) -> Scores:
    """Return how far two judges agree, or a judge with the labels of records.

    The inputs are two, or one with two `fields`. A field is a value of verdicts, such
    as `score`, which is the default, or a field of records, such as `metadata.label`.
    The result has the scores `agreement`, the share of equal labels, and `kappa`, with
    intervals by question. `labels` are those that count, in their order, which the
    `weights` "linear" and "quadratic" need. The options are those of `score` for
    reading, intervals and redaction.

    Raises `ScoreError` if there are no two labels of one answer, or kappa is not
    defined, and the errors of `score` for inputs that cannot be read.
    """
    from harpia_formats.api.arguments import file_inputs, several
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.evaluation.scoring.agreement import Agreement
    from harpia_formats.evaluation.scoring.options import ScoreOptions

    known = fields_of("score_agreement")
    chosen = make_options(ScoreOptions, options, known)
    paths = several("fields", fields)
    named = several("labels", labels, object)
    run = Agreement(file_inputs(inputs), chosen, paths, named, weights)
    for _ in run:
        continue
    scores = run.scores()
    scores.raise_for_errors()
    return scores


@_in_python_words
def head(
    given: Input,
    rows: int = 10,
    *,
    output: Destination = None,
    **options: Any,
) -> Subset:
    """Copy the first `rows` rows of a file to `output`, byte for byte.

    `given` is one input of `validate`, `output` as in `convert`; the options are the
    fields of `harpia_formats.conversion.subsets.subset_options.SubsetOptions`. Nothing
    behind the rows is read, unless a document stands around them. Raises `SubsetError`
    for what has no rows that can be copied, and `SourceError`, `SinkError` or
    `UnknownFormat`.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.conversion.subsets.head_and_sample import copy_head
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions

    (file,) = file_inputs([given])
    return copy_head(file, output, rows, make_options(SubsetOptions, options))


@_in_python_words
def sample(
    given: Input,
    size: int,
    *,
    seed: int | str = 0,
    output: Destination = None,
    **options: Any,
) -> Subset:
    """Copy `size` rows of a file, chosen at random, to `output`, byte for byte.

    The rows keep their order, and are the same for a seed on every machine. If there
    are fewer, all are copied, and the result is not `ok`. The rest is as in `head`.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.conversion.subsets.head_and_sample import copy_sample
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions

    (file,) = file_inputs([given])
    chosen = make_options(SubsetOptions, options)
    return copy_sample(file, output, size, seed, chosen)


@_in_python_words
def split(given: Input, *, output: Path | None = None, **options: Any) -> Subset:
    """Divide the rows of a file among several files, byte for byte.

    The options are those of `head` and the fields of
    `harpia_formats.conversion.subsets.subset_options.Division`: `valid` and `invalid`
    are files, or `by="category"` or `ratio={"train": 0.8, "test": 0.2}` names parts,
    whose files are called `output` with the part in the place of `{value}`. All files
    appear, or none. Raises what `head` raises, `ValidationFailed` if a row cannot be
    read by a field, and `OptionError` for options that contradict each other.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options, with_own_names
    from harpia_formats.conversion.subsets.split import Split
    from harpia_formats.conversion.subsets.subset_options import Division, SubsetOptions

    names = SubsetOptions.__dataclass_fields__
    named = with_own_names(options, names)
    reading = {name: value for name, value in named.items() if name in names}
    division = {name: value for name, value in named.items() if name not in names}
    (file,) = file_inputs([given])
    run = Split(
        file,
        output,
        make_options(Division, division, fields_of("split")),
        make_options(SubsetOptions, reading),
    )
    for _ in run:
        continue
    return run.result()


@_in_python_words
def merge(
    *inputs: Input,
    output: Destination = None,
    on_duplicate: str = "fail",
    **options: Any,
) -> Subset:
    """Put the rows of files of one format into `output`, byte for byte.

    `on_duplicate` says what becomes of a row whose id another one before it has:
    "fail", "skip" or "keep". Raises what `head` raises, `SubsetError` for files that
    are not alike, and `ValueError` for another word.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.conversion.subsets.merge import merge_files
    from harpia_formats.conversion.subsets.subset_options import SubsetOptions

    chosen = make_options(SubsetOptions, options)
    return merge_files(file_inputs(inputs), output, on_duplicate, chosen)


@_in_python_words
def stats(*inputs: Input, **options: Any) -> Statistics:
    """Count what `inputs` hold, and return the statistics of all records.

    The inputs are those of `validate`. The options are the fields of
    `harpia_formats.evaluation.statistics.statistics_run.StatsOptions`, such as
    `limit=1000` or `top=20`. It runs in one process unless `jobs`, `executor` or
    `engine` is given.

    Raises `ValidationFailed` if an input cannot be read, or has an invalid row and not
    `on_invalid="skip"`; and `ConversionError` for a document without records,
    `EngineError`, `UnknownFormat`, `MapError` or `ValueError` for a run that is not
    possible.
    """
    from harpia_formats.api.arguments import file_inputs
    from harpia_formats.api.keyword_options import make_options
    from harpia_formats.evaluation.statistics.statistics_run import (
        StatisticsRun,
        StatsOptions,
    )

    run = StatisticsRun(
        file_inputs(inputs), make_options(StatsOptions, _in_one_process(options))
    )
    for _ in run:
        continue
    statistics = run.statistics()
    statistics.raise_for_errors()
    return statistics


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, including those whose extra is not installed."""
    from harpia_formats.evaluation.metrics import metric_names as names

    return names()
