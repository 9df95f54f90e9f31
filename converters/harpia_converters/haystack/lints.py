"""The lints of results, runs (K205, K405-K408) and definitions (K313-K317)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from typing import Any

from harpia_converters.haystack.detection import (
    kind_of,
    list_in,
    of_components,
    quoted,
    remarks_by_dialect,
)
from harpia_formats.model.exact_json import float_of, is_near
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.model.problem import Path

RUN_MEAN, MEAN, ROW_SCORE = "K205", "K405", "K406"
RELEVANT_FORM, STATEMENT_SCORE = "K407", "K408"


def run_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on an EvaluationRunResult."""
    for name, result in document["results"].items():
        yield from _mean(result, ("results", name), RUN_MEAN)


def result_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on what one evaluator returned."""
    yield from _mean(document, (), MEAN)
    scores = document.get("individual_scores", ())
    for number, result in enumerate(document.get("results", ())):
        if result is not None:
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


def _result_lints(remarks_of: Remarks) -> Lints:
    codes = (MEAN, ROW_SCORE, RELEVANT_FORM, STATEMENT_SCORE)
    return Lints(rows=(RowLint(codes, remarks_of),))


RUN = Lints(rows=(RowLint((RUN_MEAN,), run_remarks),))
RESULTS = _result_lints(result_remarks)
RESULT_COMPONENTS = _result_lints(partial(of_components, remarks=result_remarks))


EXAMPLE_INPUT, EXAMPLE_OUTPUTS, SAME_NAME = "K313", "K314", "K315"
EMPTY_OUTPUT, NO_INSTRUCTIONS = "K316", "K317"

#: A list type: what it is a list of.
_list_of = re.compile(r"(?:typing\.)?[Ll]ist\[(?P<item>.+)\]", re.DOTALL)


def remarks(definition: Any) -> Iterator[Remark]:
    """Yield remarks on the parameters of an LLMEvaluator."""
    if not definition["instructions"].strip():
        help_ = "say what the judge is to decide: it is asked for the outputs only"
        message = "the instructions are empty"
        yield Remark(NO_INSTRUCTIONS, ("instructions",), message, help_)
    inputs = dict(definition["inputs"])
    yield from _outputs(definition["outputs"], inputs)
    yield from _example_inputs(definition["examples"], inputs)
    yield from _example_outputs(definition["examples"])


def _outputs(outputs: list[str], inputs: Mapping[str, str]) -> Iterator[Remark]:
    for number, name in enumerate(outputs):
        if not name.strip():
            message = "the name of an output is empty"
            help_ = "give a name: the judge is asked for a value under it"
            yield Remark(EMPTY_OUTPUT, ("outputs", number), message, help_)
        elif name in inputs:
            message = f"the output {quoted(name)} is named like an input"
            help_ = "rename one of the two: the judge is shown both under one name"
            yield Remark(SAME_NAME, ("outputs", number), message, help_)


def _example_inputs(examples: list[Any], inputs: Mapping[str, str]) -> Iterator[Remark]:
    """Yield a remark for each example value that is no item of its input."""
    for number, example in enumerate(examples):
        for name, value in example["inputs"].items():
            found = _list_of.fullmatch(inputs.get(name, ""))
            wanted = _kind_of_type(found["item"]) if found else ""
            kind = kind_of(value)
            if wanted and kind != wanted:
                message = (
                    f"the example gives {kind} for {quoted(name)}, of which each row "
                    f"has {wanted}"
                )
                help_ = f"give {wanted}: an example stands for one row"
                path = ("examples", number, "inputs", name)
                yield Remark(EXAMPLE_INPUT, path, message, help_)


def _kind_of_type(name: str) -> str:
    """Return which kind of value a type has, "" if several, or if it is not known."""
    name = name.strip()
    if _list_of.fullmatch(name) or name in {"list", "List", "typing.List"}:
        return "a list"
    return {"str": "text", "int": "a number", "float": "a number"}.get(name, "")


def _example_outputs(examples: list[Any]) -> Iterator[Remark]:
    """Yield a remark for each output of another kind than in the first example."""
    first: dict[str, str] = {}
    for number, example in enumerate(examples):
        for name, value in example["outputs"].items():
            kind = kind_of(value)
            usual = first.setdefault(name, kind)
            if kind != usual:
                message = (
                    f"the output {quoted(name)} of the example is {kind}, but {usual} "
                    "in an earlier one"
                )
                help_ = "give values of one kind: the judge follows the examples"
                path = ("examples", number, "outputs", name)
                yield Remark(EXAMPLE_OUTPUTS, path, message, help_)


_codes = (EXAMPLE_INPUT, EXAMPLE_OUTPUTS, SAME_NAME, EMPTY_OUTPUT, NO_INSTRUCTIONS)
DEFINITION, DUMPED, DEFINITION_COMPONENTS, PIPELINE = (
    Lints(rows=(RowLint(_codes, found),))
    for found in remarks_by_dialect(remarks).values()
)
