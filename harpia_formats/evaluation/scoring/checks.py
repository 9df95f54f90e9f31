"""Checks of the options and the results of a scoring run."""

from collections.abc import Iterable

from harpia_formats.conversion.options import Output as OutputPlace
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.format import ResultFormat
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.problem import Problem
from harpia_formats.model.text.spelling import hint_on


def first_problem(document: bytes, format_id: str) -> Problem | None:
    """Return the first problem of `document` in a format, None if it is valid."""
    from harpia_formats.validation.options import Options  # noqa: PLC0415 - only some result formats need it
    from harpia_formats.validation.run import Validation  # noqa: PLC0415 - only some result formats need it

    run = Validation([document], Options(format=format_id, jobs=1))
    problems = list(run)
    return None if run.report().ok else problems[0]


def check_unused(output: OutputPlace, options: ScoreOptions) -> None:
    """Raise `ScoreError` for options of result files if no results are written.

    Otherwise a script would continue without the file that it expects.
    """
    given = {
        "--output": output not in (None, "-"),
        "--name": bool(options.names),
        "--set": bool(options.constants),
        "--csv-safe": options.csv_safe,
        "--overwrite": options.overwrite,
    }
    unused = next((option for option, is_given in given.items() if is_given), "")
    if unused:
        raise ScoreError(f"{unused} needs a result format; name one with --to")


def check_names(names: Iterable[str], target: ResultFormat) -> None:
    """Raise `ScoreError` for a name that the result format does not hold."""
    for name in names:
        if name not in target.names:
            hint = hint_on(name, target.names, word="it has")
            raise ScoreError(f"{target.id} has no place for {name}{hint}")


def check_scored_units(
    measured: Iterable[ComputedMetric], target: ResultFormat
) -> None:
    """Raise `ScoreError` for a metric of no single answer in a format of such scores.

    It scores questions, or the labels of all answers.
    """
    for metric in measured:
        scored = ""
        if metric.measure.question is not None and not target.takes_questions:
            scored = "questions"
        elif metric.measure.labels is not None and not target.takes_labels:
            scored = "the labels of all answers"
        if scored:
            raise ScoreOptionsError(
                f"{target.id} holds the scores of single answers, and "
                f"{metric.request.label} scores {scored}: leave it out, or write "
                "nemo-results or harpia-output, which hold the scores of all answers"
            )
