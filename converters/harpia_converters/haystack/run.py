"""The format haystack-run: an EvaluationRunResult, with its inputs and scores."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.haystack.detection import VENDOR, run_sign
from harpia_converters.haystack.phrases import counted, quoted
from harpia_converters.haystack.values import first_of_usual_length, object_in
from harpia_formats.model.format import Container, Dialect, Format, Remark


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a run that Haystack refuses or misreads (K201-K204)."""
    inputs = object_in(object_in(document).get("inputs"))
    results = object_in(object_in(document).get("results"))
    lengths = {
        name: len(column)
        for name, column in inputs.items()
        if isinstance(column, list | str)
    }
    yield from _check_text_inputs(inputs)
    if lengths:
        usual = first_of_usual_length(lengths)
        yield from _check_lengths(lengths, usual)
        yield from _check_scores(results, lengths[usual], usual)
    for metric in filter(inputs.__contains__, results):
        message = f"the metric {quoted(metric)} is named like an input"
        help_ = "rename it: in a detailed report its scores overwrite the input"
        yield Remark("K203", ("results", metric), message, help_, at_key=True)


def _check_text_inputs(inputs: Mapping[str, Any]) -> Iterator[Remark]:
    for name, column in inputs.items():
        if isinstance(column, str):
            message = f"the input {quoted(name)} is a text and not a list"
            help_ = "give a list of texts: Haystack takes each character for a row"
            yield Remark("K204", ("inputs", name), message, help_)


def _check_lengths(lengths: Mapping[str, int], usual: str) -> Iterator[Remark]:
    for name, length in lengths.items():
        if length != lengths[usual]:
            message = (
                f"the input {quoted(name)} has {counted(length, 'item')}, "
                f"but {quoted(usual)} has {lengths[usual]:,}"
            )
            help_ = "give one item for each row: Haystack needs inputs of one length"
            yield Remark("K201", ("inputs", name), message, help_)


def _check_scores(
    results: Mapping[str, Any], wanted: int, usual: str
) -> Iterator[Remark]:
    for name, result in results.items():
        scores = object_in(result).get("individual_scores")
        if isinstance(scores, list) and len(scores) != wanted:
            message = (
                f"the metric {quoted(name)} has "
                f"{counted(len(scores), 'individual score')}, "
                f"but the input {quoted(usual)} has {counted(wanted, 'item')}"
            )
            help_ = "give one score for each row of the inputs"
            path = ("results", name, "individual_scores")
            yield Remark("K202", path, message, help_)


FORMAT = Format(
    id="haystack-run",
    title="An EvaluationRunResult: its name, the inputs and the scores",
    vendor=VENDOR,
    results="harpia_converters.haystack.results_writer:RUN",
    dialects=(
        Dialect(
            "haystack-run",
            run_sign,
            container=Container.DOCUMENT,
            strict="haystack-run-strict",
            remarks=remarks,
            lints="harpia_converters.haystack.result_lints:RUN",
            one_of=frozenset({"run_name", "inputs"}),
        ),
    ),
)
