"""Check the scores of runs and results against each other (K205, K405-K408)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from typing import Any

from harpia_converters.haystack.components import of_components
from harpia_converters.haystack.values import list_in, object_in
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.numbers import float_of, is_near
from harpia_formats.model.problem import Path

RUN_MEAN, MEAN, ROW_SCORE = "K205", "K405", "K406"
RELEVANT_FORM, STATEMENT_SCORE = "K407", "K408"


def run_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on an EvaluationRunResult."""
    for name, result in object_in(object_in(document).get("results")).items():
        parts = object_in(result)
        yield from _mean(parts, ("results", name), RUN_MEAN)


def result_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on what one evaluator returned."""
    parts = object_in(document)
    yield from _mean(parts, (), MEAN)
    scores = list_in(parts.get("individual_scores"))
    for number, result in enumerate(list_in(parts.get("results"))):
        if isinstance(result, Mapping):
            single = scores[number] if number < len(scores) else None
            yield from _of_row(result, ("results", number), single)


def _mean(parts: Mapping[str, Any], path: Path, code: str) -> Iterator[Remark]:
    """Yield a remark if the score is not the mean of the individual scores."""
    score, mean = float_of(parts.get("score")), _mean_of(parts.get("individual_scores"))
    if score is not None and mean is not None and not is_near(score, mean):
        message = f"the score is {score:g}, but the individual ones have mean {mean:g}"
        help_ = "compute it again, or name the metric by how it is computed"
        yield Remark(code, (*path, "score"), message, help_)


def _of_row(result: Mapping[str, Any], path: Path, single: Any) -> Iterator[Remark]:
    score, alone = float_of(result.get("score")), float_of(single)
    if score is not None and alone is not None and not is_near(score, alone):
        message = f"the score is {score:g}, but its individual score is {alone:g}"
        help_ = "check whether results and scores are of one run and in one order"
        yield Remark(ROW_SCORE, (*path, "score"), message, help_)
    given = list_in(result.get("statement_scores"))
    mean = _mean_of(given)
    if score is not None and mean is not None and not is_near(score, mean):
        message = f"the score is {score:g}, but its statements have mean {mean:g}"
        help_ = "compute it again: it is the mean of statement_scores"
        yield Remark(ROW_SCORE, (*path, "score"), message, help_)
    for number, value in enumerate(given):
        if isinstance(value, bool) or value not in (0, 1):
            message = "the score of a statement is neither 0 nor 1"
            help_ = "judge it again: Haystack asks for 0 or 1 and takes anything"
            place = (*path, "statement_scores", number)
            yield Remark(STATEMENT_SCORE, place, message, help_)
    relevant = result.get("relevant_statements")
    if relevant is not None and not isinstance(relevant, list):
        message = "relevant_statements is not a list, so the row scores 1 by accident"
        help_ = "give a list of statements, which is empty if none is relevant"
        yield Remark(RELEVANT_FORM, (*path, "relevant_statements"), message, help_)


def _mean_of(values: Any) -> float | None:
    """Return the mean of a list of numbers and nulls, None if it is another one."""
    rest = [value for value in list_in(values) if value is not None]
    numbers: Sequence[float] = [
        number for number in map(float_of, rest) if number is not None
    ]
    if not numbers or len(numbers) < len(rest):
        return None
    try:
        return fsum(numbers) / len(numbers)
    except OverflowError:
        return None


def _lints(remarks_of: Remarks) -> Lints:
    codes = (MEAN, ROW_SCORE, RELEVANT_FORM, STATEMENT_SCORE)
    return Lints(rows=(RowLint(codes, remarks_of),))


RUN = Lints(rows=(RowLint((RUN_MEAN,), run_remarks),))
RESULTS = _lints(result_remarks)
COMPONENTS = _lints(partial(of_components, remarks=result_remarks))
