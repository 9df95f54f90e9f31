"""The formats harpia, harpia-output and harpia-log.

Outputs and logs are checked against the input that they were made from (H201-H206).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.harpia.header_checks import (
    ANSWER,
    DOCUMENT,
    INSTANCE,
    KEYED,
    LOG,
    METRIC,
    OUTPUT,
    REFERENCES,
    TIME,
    VENDOR,
    WRAPPED,
    Metric,
    header_remarks,
    key_in,
    metric_of,
    metrics_of,
    parameter_remarks,
    same,
    sign_of,
)
from harpia_formats.model.format import (
    Companion,
    Container,
    Dialect,
    FileSummary,
    Format,
    Remark,
)
from harpia_formats.model.problem import Path

NO_OUTPUT, DISABLED, UNKNOWN_METRIC = "H201", "H202", "H203"
PARAMETERS, UNKNOWN_INSTANCE, REPEATED = "H204", "H205", "H206"

#: The member of a log's row that holds the id of an instance.
INSTANCE_ID = "instance_id"


def metric_contradictions(
    metrics: Iterable[Metric], item: Mapping[str, Any], key: str = ""
) -> Iterator[Remark]:
    """Yield a remark if an output item or a log's row contradicts the `metrics`.

    `key` is the metric's name if the item stands under it. An item that names no
    metric is not compared.
    """
    name = key or metric_of(item)
    named = [metric for metric in metrics if metric.id == name]
    parameters = item.get("parameters", {})
    equal = [metric for metric in named if same(metric.parameters, parameters)]
    path: Path = () if key else (key_in(item, METRIC),)
    if name and not named:
        yield _unknown(path)
    elif any(metric.enabled for metric in equal):
        return
    elif equal or (named and not any(metric.enabled for metric in named)):
        yield _disabled(path)
    elif named:
        yield _other_parameters(("parameters",) if "parameters" in item else ())


def missing(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield the id of each enabled metric that is missing in `seen_ids`."""
    seen = Counter(seen_ids)
    for metric in metrics:
        if metric.enabled:
            if not seen[metric.id]:
                yield metric.id
            seen[metric.id] -= bool(seen[metric.id])


def repeated(metrics: Iterable[Metric], seen_ids: Iterable[str]) -> Iterator[str]:
    """Yield each id that is more often in `seen_ids` than among the input's metrics."""
    asked = Counter(metric.id for metric in metrics)
    seen = Counter(seen_ids)
    yield from (name for name in asked if seen[name] > asked[name])


def missing_remark(metric: str) -> Remark:
    """Return the remark on an output that lacks an enabled metric."""
    return Remark(
        NO_OUTPUT,
        (),
        f"the output lacks the metric {_shown(metric)}, which the input enables",
        "run the evaluation again, or disable the metric in the input",
    )


def repeated_remark(metric: str) -> Remark:
    """Return the remark on an output that has a metric more often than the input."""
    return Remark(
        REPEATED,
        (),
        f"there are more outputs of {_shown(metric)} than the input has metrics of it",
        "keep the output of one run",
    )


def unknown_instance_remark() -> Remark:
    """Return the remark on a log's row whose instance is not in the input."""
    return Remark(
        UNKNOWN_INSTANCE,
        (INSTANCE_ID,),
        "no instance of the input has this id",
        "check against the input that the log was made from",
    )


def _shown(metric: str) -> str:
    """Return a metric's id as short JSON text."""
    from harpia_formats.model.describe import short_json  # noqa: PLC0415 - start-up: needed for messages only

    return short_json(metric)


def _unknown(path: Path) -> Remark:
    return Remark(
        UNKNOWN_METRIC,
        path,
        "the input has no metric with this id",
        "check against the input that the file was made from",
    )


def _disabled(path: Path) -> Remark:
    return Remark(
        DISABLED,
        path,
        "the input has this metric disabled",
        "enable it in the input, or give the input that the file was made from",
    )


def _other_parameters(path: Path) -> Remark:
    return Remark(
        PARAMETERS,
        path,
        "the parameters differ from those of the metric in the input",
        "check against the input that the file was made from",
    )


#: The metrics of an input, None if it has no list of metrics.
_Metrics = tuple[Metric, ...] | None


def _expected(header: Mapping[str, Any]) -> _Metrics:
    return metrics_of(header) if {"metrics", "metricas"} & header.keys() else None


def _output_record_remarks(
    metrics: _Metrics, record: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield the remarks on a record of an output: of one metric, or of all by name."""
    if metrics is None:
        return
    if not sign_of(record, KEYED):
        yield from metric_contradictions(metrics, record)
        return
    for key, output in record.items():
        if isinstance(output, Mapping):
            for remark in metric_contradictions(metrics, output, key):
                path = (key, *remark.path)
                yield Remark(remark.code, path, remark.message, remark.help)


def _log_record_remarks(
    metrics: _Metrics, record: Mapping[str, Any]
) -> Iterator[Remark]:
    if metrics is not None:
        yield from metric_contradictions(metrics, record)


def _names(record: Mapping[str, Any]) -> tuple[str, ...]:
    if sign_of(record, KEYED):
        return tuple(record)
    name = metric_of(record)
    return (name,) if name else ()


def _closing(metrics: _Metrics, seen: FileSummary) -> Iterator[Remark]:
    if metrics is not None:
        yield from map(missing_remark, missing(metrics, seen.names))
        yield from map(repeated_remark, repeated(metrics, seen.names))


def _nothing(metrics: _Metrics, seen: FileSummary) -> Iterator[Remark]:  # noqa: ARG001 - the signature of `Companion.closing`
    yield from ()


#: How an output is checked: it has one object for each enabled metric.
OUTPUT_COMPANION = Companion(
    format="harpia",
    expect=_expected,
    remarks=_output_record_remarks,
    closing=_closing,
    names=_names,
    counts_names=True,
)
#: How a log is checked: its rows are of enabled metrics and known instances. Not every
#: metric writes a log, so none can be missing.
LOG_COMPANION = Companion(
    format="harpia",
    expect=_expected,
    remarks=_log_record_remarks,
    closing=_nothing,
    refers_by=INSTANCE_ID,
    no_such_record=unknown_instance_remark,
)


SPELLING, ANSWERS, BARE_REFERENCE, NO_REFERENCE = "H101", "H102", "H103", "H104"
NO_ANSWER = "H108"

#: The Portuguese name of the list of instances, and of the dialect that has it.
_portuguese = "instancias"


def sniff_document(document: Mapping[str, Any], *, portuguese: bool) -> str:
    """Return by which keys `document` is an input, with Portuguese names or English."""
    is_portuguese = _portuguese in document and "instances" not in document
    return sign_of(document, DOCUMENT) if is_portuguese is portuguese else ""


def instance_remarks(instance: Any) -> Iterator[Remark]:
    """Yield remarks on an instance's answer and references (H101-H104, H108)."""
    if not isinstance(instance, Mapping):
        return
    answer, references = key_in(instance, ANSWER), key_in(instance, REFERENCES)
    for key, name in ((answer, ANSWER[0]), (references, REFERENCES[0])):
        if key and key != name:
            yield _other_spelling(key, name)
    if not answer:
        yield _no_answer(instance)
    elif isinstance(instance[answer], list):
        yield Remark(
            ANSWERS,
            (answer,),
            f"{answer} is a list, not text",
            "give one answer as text, or give each answer an instance with its own id",
        )
    if references:
        yield from _reference_remarks(references, instance[references])


def _other_spelling(key: str, name: str) -> Remark:
    return Remark(
        SPELLING,
        (key,),
        f'"{key}" is not how HarpIA spells "{name}"',
        f'rename it to "{name}"',
        at_key=True,
    )


def _no_answer(instance: Mapping[str, Any]) -> Remark:
    """Return the remark on an instance without an answer, at a misspelt key if any."""
    from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - start-up: needed for messages only

    name = ANSWER[0]
    key = nearest(name, (other for other in instance if other not in REFERENCES))
    if key:
        message = f'"{name}" is missing, but there is a similar key "{key}"'
        help_ = f'rename it to "{name}"'
        return Remark(NO_ANSWER, (key,), message, help_, at_key=True)
    help_ = f'give the answer of the model in "{name}"'
    return Remark(NO_ANSWER, (), f'"{name}" is missing', help_)


def _reference_remarks(key: str, value: Any) -> Iterator[Remark]:
    if isinstance(value, str):
        yield Remark(
            BARE_REFERENCE,
            (key,),
            f"{key} is one text, not a list of texts",
            "write a list with the text in it",
        )
    elif value == []:
        yield Remark(
            NO_REFERENCE,
            (key,),
            f"{key} is empty, so there is nothing to compare the answer with",
            f"give an acceptable answer, or remove {key}",
        )


LAB_INPUT_FORMAT = Format(
    id="harpia",
    title="Instances and metrics, the input of HarpIA Lab",
    vendor=VENDOR,
    adapter="harpia_converters.harpia.mapping:LAB_INPUT",
    id_key="id",
    dialects=(
        Dialect(
            "harpia",
            partial(sniff_document, portuguese=False),
            container=Container.WRAPPED,
            rows_at="instances",
            strict="harpia-strict",
            remarks=instance_remarks,
            lints="harpia_converters.harpia.lints:INSTANCES",
            remarks_refuse=True,
            header_remarks=header_remarks,
        ),
        Dialect(
            "harpia",
            partial(sign_of, kind=INSTANCE),
            name="instances",
            rows_at="instances",
            strict="harpia-strict",
            remarks=instance_remarks,
            lints="harpia_converters.harpia.lints:INSTANCES",
            remarks_refuse=True,
            documented=False,
            one_of=frozenset({*ANSWER, *REFERENCES, "input"}),
        ),
        Dialect(
            "harpia-instancias",
            partial(sniff_document, portuguese=True),
            name=_portuguese,
            container=Container.WRAPPED,
            rows_at=_portuguese,
            documented=False,
            one_of=frozenset({_portuguese}),
        ),
    ),
)


TIME_KEY, METRIC_KEY, NO_METRIC = "H121", "H122", "H123"


def output_remarks(item: Any) -> Iterator[Remark]:
    """Yield remarks on the output of one metric (H107, H121-H123)."""
    if isinstance(item, Mapping):
        yield from metric_key_remarks(item)
        yield from parameter_remarks(item, ())
        yield from _check_time(item, ())


def keyed_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on outputs that stand under the names of their metrics."""
    for key, output in document.items() if isinstance(document, Mapping) else ():
        if isinstance(output, Mapping):
            yield from parameter_remarks(output, (key,))
            yield from _check_time(output, (key,))


def metric_key_remarks(item: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if `item` has no `id` of its metric, or has it at another key."""
    key = key_in(item, METRIC)
    if not key:
        yield Remark(NO_METRIC, (), "the metric is not named", 'give its name in "id"')
    elif key != "id":
        yield Remark(
            METRIC_KEY,
            (key,),
            f'the metric is named in "{key}", not in "id"',
            'rename it to "id"',
            at_key=True,
        )


def _check_time(item: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    key = key_in(item, TIME)
    if not key:
        yield Remark(
            TIME_KEY,
            path,
            'there is no "elapsed time"',
            "give the seconds that the metric took over all instances",
        )
    elif key != TIME[0]:
        yield Remark(
            TIME_KEY,
            (*path, key),
            f'"{key}" is not how HarpIA\'s page spells "elapsed time"',
            'rename it to "elapsed time"',
            at_key=True,
        )


OUTPUT_FORMAT = Format(
    id="harpia-output",
    title="Scores of metrics over all instances, the output of HarpIA Lab",
    vendor=VENDOR,
    companion=OUTPUT_COMPANION,
    results="harpia_converters.harpia.results_writer:OUTPUT",
    dialects=(
        Dialect(
            "harpia-output",
            partial(sign_of, kind=OUTPUT),
            rows_at="results",
            strict="harpia-output-strict",
            remarks=output_remarks,
            lints="harpia_converters.harpia.lints:OUTPUT",
            one_of=frozenset({"score", "parameters"}),
        ),
        Dialect(
            "harpia-output",
            partial(sign_of, kind=WRAPPED),
            name="wrapped",
            container=Container.WRAPPED,
            rows_at="results",
            strict="harpia-output-strict",
            remarks=output_remarks,
            lints="harpia_converters.harpia.lints:OUTPUT",
            documented=False,
            one_of=frozenset({"results"}),
        ),
        Dialect(
            "harpia-output-keyed",
            partial(sign_of, kind=KEYED),
            name="keyed",
            container=Container.DOCUMENT,
            strict="harpia-output-keyed-strict",
            remarks=keyed_remarks,
            documented=False,
        ),
    ),
)


def log_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on a line of the log (H107, H122, H123)."""
    if isinstance(row, Mapping):
        yield from metric_key_remarks(row)
        yield from parameter_remarks(row, ())


LOG_FORMAT = Format(
    id="harpia-log",
    title="Results of metrics on single instances, the log of HarpIA Lab",
    vendor=VENDOR,
    companion=LOG_COMPANION,
    results="harpia_converters.harpia.results_writer:LOG",
    dialects=(
        Dialect(
            "harpia-log",
            partial(sign_of, kind=LOG),
            strict="harpia-log-strict",
            remarks=log_remarks,
            lints="harpia_converters.harpia.lints:LOG",
            one_of=frozenset({"instance_id", "result"}),
        ),
    ),
)
