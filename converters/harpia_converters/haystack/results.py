"""The format haystack-results: what an evaluator returned."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.haystack.components import of_components
from harpia_converters.haystack.detection import (
    VENDOR,
    results_below_sign,
    results_sign,
)
from harpia_converters.haystack.phrases import counted, listed
from harpia_converters.haystack.values import list_in, object_in
from harpia_formats.model.format import Container, Dialect, Format, Remark


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on parts of results that do not match (K401-K404)."""
    parts = object_in(document)
    yield from _check_meta(parts)
    yield from _check_scores(parts)
    rows = enumerate(list_in(parts.get("results")))
    results = {number: result for number, result in rows if isinstance(result, Mapping)}
    yield from _check_keys(results)
    yield from _check_statements(results)


def _check_meta(parts: Mapping[str, Any]) -> Iterator[Remark]:
    meta, results = parts.get("meta"), list_in(parts.get("results"))
    if isinstance(meta, list) and len(meta) != len(results):
        message = (
            f"meta has {counted(len(meta), 'item')} "
            f"for {counted(len(results), 'result')}"
        )
        help_ = "no change is needed; a failed row has no item, so items have no row"
        yield Remark("K401", ("meta",), message, help_)


def _check_scores(parts: Mapping[str, Any]) -> Iterator[Remark]:
    scores, results = parts.get("individual_scores"), parts.get("results")
    both = isinstance(scores, list) and isinstance(results, list)
    if both and len(list_in(scores)) != len(list_in(results)):
        message = (
            f"{counted(len(list_in(scores)), 'individual score')} "
            f"for {counted(len(list_in(results)), 'result')}"
        )
        help_ = "give one score for each result; check whether the file was edited"
        yield Remark("K404", ("individual_scores",), message, help_)


def _check_keys(results: Mapping[int, Mapping[str, Any]]) -> Iterator[Remark]:
    """Yield a remark for each result that has other keys than most (K402)."""
    if not results:
        return
    ((usual, _),) = Counter(map(frozenset, results.values())).most_common(1)
    for number, result in results.items():
        lacking, more = sorted(usual - result.keys()), sorted(result.keys() - usual)
        differences = [f"lacks {listed(lacking)}"] if lacking else []
        differences += [f"has {listed(more)}"] if more else []
        if differences:
            message = f"this result {' and '.join(differences)}, unlike most others"
            help_ = "Haystack keeps the judge's reply unchanged: check the reply"
            yield Remark("K402", ("results", number), message, help_)


def _check_statements(results: Mapping[int, Mapping[str, Any]]) -> Iterator[Remark]:
    """Yield a remark for each result without one score per statement (K403)."""
    for number, result in results.items():
        statements, scores = result.get("statements"), result.get("statement_scores")
        if not isinstance(statements, list) or not isinstance(scores, list):
            continue
        if len(statements) != len(scores):
            message = (
                f"{counted(len(statements), 'statement')} with "
                f"{counted(len(scores), 'score')}"
            )
            help_ = "judge it again: Haystack takes the mean of the given scores"
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
            lints="harpia_converters.haystack.result_lints:RESULTS",
            one_of=frozenset({"individual_scores", "results"}),
        ),
        Dialect(
            "haystack-results-component",
            results_below_sign,
            "component",
            Container.DOCUMENT,
            strict="haystack-results-component-strict",
            remarks=partial(of_components, remarks=remarks),
            lints="harpia_converters.haystack.result_lints:COMPONENTS",
        ),
    ),
)
