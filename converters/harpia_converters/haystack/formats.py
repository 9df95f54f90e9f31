"""The formats haystack, haystack-results, haystack-run and haystack-evaluator."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.haystack import definition_checks
from harpia_converters.haystack.definition_checks import loading_remarks
from harpia_converters.haystack.detection import (
    COLUMNS,
    CONTEXT_COLUMNS,
    DOCUMENT_COLUMNS,
    TEXT_COLUMNS,
    VENDOR,
    columns_below_sign,
    columns_sign,
    counted,
    definition_sign,
    dumped_sign,
    evaluator_below_sign,
    first_of_usual_length,
    kind_of,
    listed,
    of_components,
    own_columns_below_sign,
    own_columns_sign,
    pipeline_sign,
    quoted,
    remarks_by_dialect,
    results_below_sign,
    results_sign,
    run_sign,
)
from harpia_formats.model.format import Container, Dialect, Format, Remark, Sniff
from harpia_formats.model.problem import Path


def lengths(items: Mapping[Path, int]) -> Iterator[Remark]:
    """Yield remarks on the lengths and the names of columns (K101, K103).

    `items` has the number of items in the column at each path.
    """
    components: dict[Path, dict[Path, int]] = {}
    for path, count in items.items():
        components.setdefault(path[:-1], {})[path] = count
    for columns in components.values():
        yield from _spellings(columns)
        yield from _unequal("K101", columns, "column")


def _unequal(code: str, lengths: Mapping[Path, int], what: str) -> Iterator[Remark]:
    """Yield a remark for each column that has not as many items as most have."""
    usual = first_of_usual_length(lengths)
    for path, count in lengths.items():
        if count != lengths[usual]:
            message = (
                f"the {what} {quoted(str(path[-1]))} has {counted(count, 'item')}, "
                f"but {quoted(str(usual[-1]))} has {lengths[usual]:,}"
            )
            help_ = f"give one item for each row: Haystack needs {what}s of one length"
            yield Remark(code, path, message, help_)


def _spellings(columns: Iterable[Path]) -> Iterator[Remark]:
    """Yield a remark for each column that is named almost like a known one (K103)."""
    names = {str(path[-1]): path for path in columns}
    if names.keys() <= COLUMNS:
        return
    from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - start-up: for other columns only

    for name, path in names.items():
        meant = "" if name in COLUMNS else nearest(name, COLUMNS - names.keys())
        if meant:
            message = f"the column {quoted(name)} is named almost like {quoted(meant)}"
            help_ = f"rename it to {quoted(meant)} if that is meant"
            yield Remark("K103", path, message, help_, at_key=True)


def column_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each item that is not of the type evaluators expect (K102).

    `row` is an object with the item of each column, or of some columns.
    """
    for column, item in row.items():
        if column in TEXT_COLUMNS and not isinstance(item, str):
            yield _unexpected((column,), item, "text")
        elif column in CONTEXT_COLUMNS:
            yield from _check_contexts(column, item)
        elif column in DOCUMENT_COLUMNS and not isinstance(item, list):
            yield _unexpected((column,), item, "a list of documents")


def _check_contexts(column: str, item: Any) -> Iterator[Remark]:
    if not isinstance(item, list):
        yield _unexpected((column,), item, "a list of texts")
        return
    for number, entry in enumerate(item):
        if not isinstance(entry, str):
            yield _unexpected((column, number), entry, "text")


def _unexpected(path: Path, value: Any, expected: str) -> Remark:
    where = f"an item of {quoted(str(path[0]))}"
    if path[1:]:
        where = f"an entry of {where}"
    message = f"{where} should be {expected}, but is {kind_of(value)}"
    return Remark(
        "K102",
        path,
        message,
        f"give {expected}: Haystack does not check it, but its evaluators expect it",
    )


COLUMNS_FORMAT = Format(
    id="haystack",
    title="The inputs of an evaluator: one list for each input",
    vendor=VENDOR,
    adapter="harpia_converters.haystack.mapping:COLUMNS",
    dialects=(
        Dialect(
            "haystack",
            columns_sign,
            possible=own_columns_sign,
            container=Container.COLUMNS,
            lengths=lengths,
            strict="haystack-strict",
            remarks=column_remarks,
            one_of=COLUMNS,
        ),
        Dialect(
            "haystack-component",
            columns_below_sign,
            "component",
            Container.COLUMNS,
            possible=own_columns_below_sign,
            depth=2,
            lengths=lengths,
            strict="haystack-component-strict",
            remarks=column_remarks,
        ),
    ),
)


def result_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on parts of results that do not match (K401-K404)."""
    rows, meta = document.get("results"), document.get("meta")
    count = len(rows or ())
    if meta is not None and len(meta) != count:
        message = (
            f"meta has {counted(len(meta), 'item')} for {counted(count, 'result')}"
        )
        help_ = "no change is needed; a failed row has no item, so items have no row"
        yield Remark("K401", ("meta",), message, help_)
    scores = document.get("individual_scores")
    if rows is not None and scores is not None and len(scores) != count:
        message = (
            f"{counted(len(scores), 'individual score')} for {counted(count, 'result')}"
        )
        help_ = "give one score for each result; check whether the file was edited"
        yield Remark("K404", ("individual_scores",), message, help_)
    results = {number: row for number, row in enumerate(rows or ()) if row is not None}
    yield from _check_keys(results)
    yield from _check_statements(results)


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


def _document(schema: str, sign: Sniff, name: str = "", **others: Any) -> Dialect:
    """Return a dialect of whole documents, which has a strict schema, too."""
    return Dialect(
        schema, sign, name, Container.DOCUMENT, strict=f"{schema}-strict", **others
    )


RESULTS_FORMAT = Format(
    id="haystack-results",
    title="What an evaluator returned: a result for each row, or scores",
    vendor=VENDOR,
    results="harpia_converters.haystack.results_writer:RESULTS",
    dialects=(
        _document(
            "haystack-results",
            results_sign,
            remarks=result_remarks,
            lints="harpia_converters.haystack.lints:RESULTS",
            one_of=frozenset({"individual_scores", "results"}),
        ),
        _document(
            "haystack-results-component",
            results_below_sign,
            "component",
            remarks=partial(of_components, remarks=result_remarks),
            lints="harpia_converters.haystack.lints:RESULT_COMPONENTS",
        ),
    ),
)


def run_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a run that Haystack refuses or misreads (K201-K204)."""
    inputs, results = document["inputs"], document["results"]
    lengths: dict[Path, int] = {
        ("inputs", name): len(column) for name, column in inputs.items()
    }
    yield from _check_text_inputs(inputs)
    yield from _unequal("K201", lengths, "input")
    usual = first_of_usual_length(lengths)
    yield from _check_score_counts(results, lengths[usual], str(usual[-1]))
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


def _check_score_counts(
    results: Mapping[str, Any], wanted: int, usual: str
) -> Iterator[Remark]:
    for name, result in results.items():
        count = len(result["individual_scores"])
        if count != wanted:
            message = (
                f"the metric {quoted(name)} has {counted(count, 'individual score')}, "
                f"but the input {quoted(usual)} has {counted(wanted, 'item')}"
            )
            help_ = "give one score for each row of the inputs"
            path = ("results", name, "individual_scores")
            yield Remark("K202", path, message, help_)


RUN_FORMAT = Format(
    id="haystack-run",
    title="An EvaluationRunResult: its name, the inputs and the scores",
    vendor=VENDOR,
    results="harpia_converters.haystack.results_writer:RUN",
    dialects=(
        _document(
            "haystack-run",
            run_sign,
            remarks=run_remarks,
            lints="harpia_converters.haystack.lints:RUN",
            one_of=frozenset({"run_name", "inputs"}),
        ),
    ),
)


_remarks = remarks_by_dialect(definition_checks.remarks, loading_remarks)
_LINTS = "harpia_converters.haystack.lints:"

EVALUATOR_FORMAT = Format(
    id="haystack-evaluator",
    title="The definition of an LLMEvaluator",
    vendor=VENDOR,
    dialects=(
        _document(
            "haystack-evaluator",
            definition_sign,
            remarks=_remarks[""],
            lints=_LINTS + "DEFINITION",
            one_of=frozenset({"instructions", "inputs"}),
        ),
        _document(
            "haystack-evaluator-to-dict",
            dumped_sign,
            "to_dict",
            remarks=_remarks["to_dict"],
            lints=_LINTS + "DUMPED",
            one_of=frozenset({"init_parameters", "type"}),
        ),
        _document(
            "haystack-evaluator-component",
            evaluator_below_sign,
            "component",
            remarks=_remarks["component"],
            lints=_LINTS + "DEFINITION_COMPONENTS",
        ),
        _document(
            "haystack-evaluator-pipeline",
            pipeline_sign,
            "pipeline",
            remarks=_remarks["pipeline"],
            lints=_LINTS + "PIPELINE",
            one_of=frozenset({"components"}),
        ),
    ),
)
