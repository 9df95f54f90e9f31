"""Validate LLM-evaluation data, with line, column and reason, convert and score it.

>>> import harpia_formats
>>> report = harpia_formats.validate(b'{"score": NaN}')
>>> report.ok
False
>>> report.problems[0].code, report.problems[0].place.column
('J106', 11)
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harpia_formats import _version
from harpia_formats.model.problem import (
    Because,
    Excerpt,
    Fix,
    Place,
    Problem,
    Severity,
)
from harpia_formats.model.report import FileCount, Group, Report, ValidationFailed

if TYPE_CHECKING:  # importing us is cheap
    from harpia_formats.comparison.round_trip import DifferenceReport
    from harpia_formats.conversion.report import ConversionReport
    from harpia_formats.detection.result import Detected
    from harpia_formats.extensions.entry_points import PluginError
    from harpia_formats.io.sink import SinkError
    from harpia_formats.llm_judge import LLMJudge
    from harpia_formats.mapping.columns import MapError
    from harpia_formats.mapping.requirements import ConversionError
    from harpia_formats.model.metric_profile import ScoreError
    from harpia_formats.model.record import Header, Output, Record, Score
    from harpia_formats.registry import UnknownFormat
    from harpia_formats.rules import UnknownRule
    from harpia_formats.schema.load import SchemaError
    from harpia_formats.scoring.compare_runs import ComparisonReport
    from harpia_formats.scoring.scores import Scores
    from harpia_formats.validation.companion_files import CompanionError
    from harpia_formats.workers.engine import EngineError

__version__ = _version.__version__

__all__ = [
    "Because",
    "CompanionError",
    "ConversionError",
    "Detected",
    "EngineError",
    "Excerpt",
    "FileCount",
    "Fix",
    "Group",
    "Header",
    "LLMJudge",
    "MapError",
    "Output",
    "Place",
    "PluginError",
    "Problem",
    "Record",
    "Report",
    "SchemaError",
    "Score",
    "ScoreError",
    "Severity",
    "SinkError",
    "UnknownFormat",
    "UnknownRule",
    "ValidationFailed",
    "compare_scores",
    "convert",
    "detect",
    "diff",
    "iter_problems",
    "metric_names",
    "read",
    "roundtrip",
    "score",
    "validate",
    "write",
]


def validate(*inputs: Any, **options: Any) -> Report:
    """Validate `inputs` and return the report.

    An input is a path, a folder, a pattern, `-` for standard input, bytes, or an
    open binary file. The options are the fields of
    `harpia_formats.validation.options.Options`,
    such as `format="eee@0.2.0"`, `schema="mine.json"`, `select=("J", "S")`,
    `examples=0`, `limit=1000`. One process does the work unless `jobs`, `executor` or
    `engine` says otherwise. What cannot be read is told in the report; an option
    that cannot be met raises `UnknownFormat`, `UnknownRule`, `SchemaError`,
    `CompanionError`, `MapError`, `EngineError` or `ValueError`, which no input at all
    raises too; what is no input or no option raises `TypeError`.
    """
    from harpia_formats.validation.options import Options
    from harpia_formats.validation.run import Validation

    validation = Validation(inputs, Options(**_in_one_process(options)))
    problems = tuple(validation)
    return replace(validation.report(), problems=problems)


def iter_problems(*inputs: Any, **options: Any) -> Iterator[Problem]:
    """Yield the problems of `inputs` as they are found, all of them.

    The arguments are those of `validate`; nothing is capped unless asked for. At the
    end `ValidationFailed` is raised if something could not be read: without a report
    nothing else would say so.
    """
    from harpia_formats.validation.options import Options
    from harpia_formats.validation.run import Validation

    uncapped = {"examples": 0, "max_problems": 0} | options
    validation = Validation(inputs, Options(**_in_one_process(uncapped)))
    yield from validation
    report = validation.report()
    if report.failures:
        raise ValidationFailed(report)


def _in_one_process(options: dict[str, Any]) -> dict[str, Any]:
    """Return options by which no process is begun unless it is asked for."""
    is_elsewhere = options.get("executor") or options.get("engine")
    return options if is_elsewhere else {"jobs": 1} | options


def detect(*inputs: Any) -> "tuple[Detected, ...]":
    """Return which format each file behind `inputs` is in, and why.

    The inputs are those of `validate`. Only the beginning of a file is read: 1,000
    records or 8 MB. What cannot be read is told by `reason`. No input at all raises
    `ValueError`, what is no input `TypeError`.
    """
    from harpia_formats.detection.detect_files import detect_files
    from harpia_formats.io.inputs import checked_inputs

    return tuple(detect_files(checked_inputs(inputs)))


def convert(
    *inputs: Any, to: str, output: Any = None, **options: Any
) -> "ConversionReport":
    """Convert `inputs` into the format `to`, and return what became of it.

    The inputs are those of `validate`; `output` is a path, an open binary file, or None
    for standard output. The options are the fields of
    `harpia_formats.conversion.options.ConvertOptions`, such as `references="expand"`,
    `constants={"model": "org/m"}`, `on_loss="fail"`. One process does the work unless
    `jobs`, `executor` or `engine` says otherwise. No file is written unless all was
    read and is good, but an open one has at once what is written: ask the report, or
    let it raise by `raise_for_errors`. What cannot be done at all raises
    `ConversionError`, `EngineError`, `SinkError`, `UnknownFormat`, `MapError` or
    `ValueError`.
    """
    from harpia_formats.conversion.options import ConvertOptions
    from harpia_formats.conversion.python_wording import (
        errors_with_arguments,
        with_arguments,
    )
    from harpia_formats.conversion.run import Conversion

    with errors_with_arguments():
        chosen = ConvertOptions(**_in_one_process(options))
        run = Conversion(inputs, to, output, chosen)
        problems = tuple(
            replace(each, help=with_arguments(each.help)) if each.help else each
            for each in run
        )
    report = run.report()
    return replace(report, report=replace(report.report, problems=problems))


def read(*inputs: Any, format: str | None = None, **options: Any) -> "Iterator[Record]":  # noqa: A002 - as in `validate`
    """Yield the records of `inputs`, whatever their format.

    The inputs are those of `validate`, the options `columns` and `max_row_bytes`. A row
    that is not valid ends it with `ValidationFailed`, after all records before it.
    """
    from harpia_formats.reading.records import records_in

    return records_in(inputs, format, **options)


def write(
    records: "Iterable[Record]", *, to: str, output: Any = None, **options: Any
) -> "ConversionReport":
    """Write `records` in the format `to`, and return what became of it.

    The rest is as in `convert`.
    """
    from harpia_formats.reading.records import lines_of

    return convert(lines_of(records), to=to, output=output, from_="record", **options)


def roundtrip(*inputs: Any, via: str, **options: Any) -> "DifferenceReport":
    """Convert `inputs` into the format `via` and back; return what differs.

    Nothing is written. The rest is as in `convert`, but that `on_invalid` is "fail" or
    "skip", and that `constants` also give what is lost on the way there.
    """
    from harpia_formats.comparison.round_trip import RoundTrip
    from harpia_formats.conversion.options import ConvertOptions
    from harpia_formats.conversion.python_wording import (
        errors_with_arguments,
        with_arguments,
    )

    with errors_with_arguments():
        run = RoundTrip(inputs, via, ConvertOptions(**options))
        for _ in run:
            continue
    report = run.report()
    for each in report.fields.values():
        each.reason = with_arguments(each.reason)
    return report


def diff(
    left: Any, right: Any, *, to: str | None = None, **options: Any
) -> "DifferenceReport":
    """Compare two data sets of any formats record by record; return what differs.

    Records are matched by their ids, or by their prompts where one side has no ids.
    `from_` is the format of `left` and `to` that of `right`, recognised if not given.
    The other options are `columns`, `model`, `on_invalid` ("fail" or "skip"),
    `max_row_bytes` and `progress` of `convert`, and the errors are those of it.
    """
    from harpia_formats.comparison.diff import Comparison
    from harpia_formats.conversion.options import ConvertOptions
    from harpia_formats.conversion.python_wording import errors_with_arguments

    with errors_with_arguments():
        run = Comparison([left], [right], ConvertOptions(**options), to)
        for _ in run:
            continue
    return run.report()


def score(
    *inputs: Any, to: str | None = None, output: Any = None, **options: Any
) -> "Scores":
    """Score the answers in `inputs`, and return the scores of all of them.

    The inputs are those of `validate`. Results are written to `output` in the format
    `to`, if there is one; `output` is a path, an open binary file, or None for standard
    output. The options are the fields of `harpia_formats.scoring.options.ScoreOptions`,
    such as `metrics=("em", "f1")`, `profile="squad"`, `by=("category",)`. One process
    does the work unless `jobs`, `executor` or `engine` says otherwise. What cannot be
    done raises `ScoreError`, `EngineError`, `SinkError`, `UnknownFormat`, `MapError` or
    `ValueError`; rows that are not valid and answers without a score are told in
    `problems`.
    """
    from harpia_formats.scoring.options import ScoreOptions
    from harpia_formats.scoring.run import Scoring

    run = Scoring(inputs, to, output, ScoreOptions(**_in_one_process(options)))
    problems = tuple(run)
    return replace(run.scores(), problems=problems)


def compare_scores(
    first: Any,
    second: Any,
    *,
    models: tuple[str | None, str | None] = (None, None),
    **options: Any,
) -> "ComparisonReport":
    """Score the answers of two systems to the same records, and compare them.

    Answers are paired by the id of their record, or by what it asks; `models` names
    those whose answers are taken of each input. The rest is as in `score`.
    """
    from harpia_formats.scoring.compare_runs import ScoreComparison
    from harpia_formats.scoring.options import ScoreOptions

    chosen = ScoreOptions(**_in_one_process(options))
    run = ScoreComparison([first], [second], chosen, models)
    for _ in run:
        continue
    return run.report()


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, whether what they need is installed or not."""
    from harpia_formats.metrics import metric_names as names

    return names()


#: Where each name is that is imported only if it is asked for.
_elsewhere = {
    "CompanionError": "validation.companion_files",
    "ConversionError": "mapping.requirements",
    "Detected": "detection.result",
    "EngineError": "workers.engine",
    "Header": "model.record",
    "LLMJudge": "llm_judge",
    "MapError": "mapping.columns",
    "Output": "model.record",
    "PluginError": "extensions.entry_points",
    "Record": "model.record",
    "SchemaError": "schema.load",
    "Score": "model.record",
    "ScoreError": "model.metric_profile",
    "SinkError": "io.sink",
    "UnknownFormat": "registry",
    "UnknownRule": "rules",
}


def __getattr__(name: str) -> Any:
    """Return what is imported only if it is asked for."""
    if name in _elsewhere:
        from importlib import import_module

        return getattr(import_module(f"harpia_formats.{_elsewhere[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
