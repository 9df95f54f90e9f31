"""haystack-results: what an evaluator returned."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.haystack.detection import (
    VENDOR,
    results_below_sign,
    results_sign,
)
from harpia_converters.haystack.phrases import (
    counted,
    list_in,
    listed,
    object_in,
    of_components,
)
from harpia_formats.model.format import Container, Dialect, Format, Remark


def remarks(document: Any) -> Iterator[Remark]:
    """Say what in one evaluator's results does not belong together."""
    parts = object_in(document)
    yield from _of_meta(parts)
    yield from _of_scores(parts)
    rows = enumerate(list_in(parts.get("results")))
    results = {number: result for number, result in rows if isinstance(result, Mapping)}
    yield from _of_keys(results)
    yield from _of_statements(results)


def _of_meta(parts: Mapping[str, Any]) -> Iterator[Remark]:
    meta, results = parts.get("meta"), list_in(parts.get("results"))
    if isinstance(meta, list) and len(meta) != len(results):
        message = (
            f"meta has {counted(len(meta), 'item')} "
            f"for {counted(len(results), 'result')}"
        )
        help_ = "a row that failed has none, so nothing says which row an item is of"
        yield Remark("K401", ("meta",), message, help_)


def _of_scores(parts: Mapping[str, Any]) -> Iterator[Remark]:
    scores, results = parts.get("individual_scores"), parts.get("results")
    both = isinstance(scores, list) and isinstance(results, list)
    if both and len(list_in(scores)) != len(list_in(results)):
        message = (
            f"{counted(len(list_in(scores)), 'individual score')} "
            f"for {counted(len(list_in(results)), 'result')}"
        )
        help_ = "an evaluator gives one score for each result; was one of them edited?"
        yield Remark("K404", ("individual_scores",), message, help_)


def _of_keys(results: Mapping[int, Mapping[str, Any]]) -> Iterator[Remark]:
    """Say which results have other keys than most."""
    if not results:
        return
    ((usual, _),) = Counter(map(frozenset, results.values())).most_common(1)
    for number, result in results.items():
        lacking, more = sorted(usual - result.keys()), sorted(result.keys() - usual)
        told = [f"lacks {listed(lacking)}"] if lacking else []
        told += [f"has {listed(more)}"] if more else []
        if told:
            message = f"this result {' and '.join(told)}, unlike most others"
            help_ = "the judge's answer is kept as it is; look whether it was meant so"
            yield Remark("K402", ("results", number), message, help_)


def _of_statements(results: Mapping[int, Mapping[str, Any]]) -> Iterator[Remark]:
    """Say where the statements of an answer are not scored one by one."""
    for number, result in results.items():
        statements, scores = result.get("statements"), result.get("statement_scores")
        if not isinstance(statements, list) or not isinstance(scores, list):
            continue
        if len(statements) != len(scores):
            message = (
                f"{counted(len(statements), 'statement')} with "
                f"{counted(len(scores), 'score')}"
            )
            help_ = "Haystack takes the mean of the scores there are; judge it again"
            path = ("results", number, "statement_scores")
            yield Remark("K403", path, message, help_)


FORMAT = Format(
    id="haystack-results",
    title="What an evaluator returned: a result for each row, or scores",
    vendor=VENDOR,
    results="harpia_converters.haystack.results_writer:RESULTS",
    dialects=(
        Dialect(
            "haystack-results",
            results_sign,
            container=Container.DOCUMENT,
            strict="haystack-results-strict",
            remarks=remarks,
        ),
        Dialect(
            "haystack-results-component",
            results_below_sign,
            "component",
            Container.DOCUMENT,
            strict="haystack-results-component-strict",
            remarks=partial(of_components, remarks=remarks),
        ),
    ),
)
