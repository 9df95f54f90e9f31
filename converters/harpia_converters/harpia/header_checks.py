"""Detect HarpIA's files by their keys, and check the metrics that they ask for.

The checks of a header are those of its metrics and of their parameters (H105-H107,
H111-H118).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

VENDOR = "HarpIA Lab"

#: Spellings of the key of a model's answer; HarpIA's pages have the first.
ANSWER = ("actual-output", "actual_output", "actualOutput")
#: Spellings of the key of the acceptable answers; HarpIA's pages have the first.
REFERENCES = ("expected-output", "expected_output", "expectedOutput")
#: Spellings of the key of a metric's id in an output or a log. HarpIA's pages do not
#: say; the first is our reading.
METRIC = ("id", "metric", "metric_id")
#: Spellings of the key of a metric's time; HarpIA's page has the first.
TIME = ("elapsed time", "elapsed_time", "elapsed-time", "elapsedTime")
#: Spellings of the key of the list of metrics, in lower case; the first is our reading.
METRICS = ("metrics", "metric", "metricas", "métricas")
#: Spellings of the key of the list of instances, in lower case.
INSTANCES = ("instances", "instance", "instancias", "instâncias")


def key_in(owner: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of `keys` that `owner` has, or ""."""
    return next((key for key in keys if key in owner), "")


#: Kinds of objects: a record of an input, an output or a log, or the whole document.
INSTANCE, DOCUMENT = "instance", "document"
OUTPUT, WRAPPED, KEYED, LOG = "output", "wrapped", "keyed", "log"

#: Keys of other vendors' records; an object with one of them is not HarpIA's.
_foreign_keys = frozenset(
    "conversation evaluation_results ideal_response init_parameters model_outputs "
    "run_name sample_id".split()
)
#: Keys of test cases of DeepEval, which spells answers as HarpIA does not document.
_case_keys = frozenset(
    "retrieval_context retrievalContext tools_called toolsCalled expected_tools "
    "expectedTools source_file sourceFile additional_metadata additionalMetadata "
    "custom_column_key_values customColumnKeyValues metrics_data metricsData".split()
)
#: The most members of an output by metric that may be something else than a metric's
#: result: one that is broken, and unknown ones.
_most_others = 3


def sign_of(value: Mapping[str, Any], kind: str) -> str:
    """Return by which keys `value` is of `kind`, or "" if it is not."""
    found, sign = kind_of(value)
    return sign if found == kind else ""


def kind_of(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of `value` and what it is detected by, "" if not HarpIA's."""
    if not _is_foreign(value):
        for kind, sign in _kinds:
            found = sign(value)
            if found:
                return kind, found
    return "", ""


def _instance_sign(row: Mapping[str, Any]) -> str:
    key = key_in(row, (*ANSWER, *REFERENCES))
    if key:
        return "" if _is_other_case(row, key) else f"`{key}`"
    # With any other key it can be a row of many tools, or a field of a form.
    is_plain = row.keys() == {"id", "input"} and not isinstance(row["input"], Mapping)
    return "`id` and `input`" if is_plain else ""


def _is_other_case(row: Mapping[str, Any], key: str) -> bool:
    """Tell whether a row with `key` is a line of a log, or another tool's test case."""
    return "instance_id" in row or ("-" not in key and bool(_case_keys & row.keys()))


def _document_sign(document: Mapping[str, Any]) -> str:
    instances = [key for key in document if _has_instances(key, document[key])]
    metrics = [key for key in document if _has_metrics(key, document[key])]
    # One of the two lists alone must look like HarpIA's: others have such lists.
    is_known = (
        (instances and metrics)
        or any(_are_instances(document[key]) for key in instances)
        or any(_are_switched(document[key]) for key in metrics)
    )
    if not is_known or "input" in document:
        return ""
    return " and ".join(
        f"`{key}`" for key in document if key in instances or key in metrics
    )


def _log_sign(row: Mapping[str, Any]) -> str:
    if key_in(row, ("score", "input", *ANSWER, *REFERENCES)):
        return ""
    others = [
        key for key in ("result", "parameters", key_in(row, METRIC)) if key in row
    ]
    if "instance_id" in row:
        return "`instance_id`" if len(others) > 1 else ""
    is_named = len(others) > 2 and others[-1] != "id"  # noqa: PLR2004 - all of them
    return "`result` and `parameters`" if is_named else ""


def _output_sign(item: Mapping[str, Any]) -> str:
    if key_in(item, ("instance_id", "input")):
        return ""
    time = key_in(item, TIME)
    found = [f"`{key}`" for key in ("score", "parameters", time) if key in item]
    is_named = bool(time or key_in(item, METRIC))
    return " and ".join(found) if len(found) > 1 and is_named else ""


def _wrapped_sign(document: Mapping[str, Any]) -> str:
    items = document.get("results")
    sign = next(_outputs_in(items if isinstance(items, list) else ()), "")
    return f"{sign} in `results`" if sign else ""


def _keyed_sign(document: Mapping[str, Any]) -> str:
    signs = list(_outputs_in(document.values()))
    if not signs or len(document) - len(signs) > _most_others:
        return ""
    return f"{signs[0]} under each metric"


def _outputs_in(values: Iterable[Any]) -> Iterator[str]:
    """Yield by which keys each of the `values` is an output, of those that are."""
    signs = (_output_sign(value) for value in values if isinstance(value, Mapping))
    return filter(None, signs)


#: How each kind is detected; the first that fits is taken.
_kinds = (
    (INSTANCE, _instance_sign),
    (DOCUMENT, _document_sign),
    (LOG, _log_sign),
    (OUTPUT, _output_sign),
    (WRAPPED, _wrapped_sign),
    (KEYED, _keyed_sign),
)


def _is_foreign(row: Mapping[str, Any]) -> bool:
    """Tell whether `row` has the keys of another vendor's records."""
    if _foreign_keys & row.keys() or {"input", "reference", "output"} <= row.keys():
        return True
    if {"interaction_type", "answer_attribution"} <= row.keys():
        return True
    if any(isinstance(row.get(key), list) for key in ("messages", "outputs")):
        return True
    asked = row.get("input")
    if not isinstance(asked, Mapping):
        return False
    return bool(key_in(row, ("response", "llm_name")) or "prompt" in asked)


def _has_instances(key: str, value: Any) -> bool:
    # In the beginning of a large file a list that is cut off is null.
    return key.casefold() in INSTANCES and (
        value is None or isinstance(value, list | Mapping)
    )


def _are_instances(value: Any) -> bool:
    """Tell whether one of some instances, in a list or by id, looks like HarpIA's."""
    if value is None:
        return True
    items = value.values() if isinstance(value, Mapping) else value
    return any(
        {"id", "input"} <= item.keys() or bool(key_in(item, (*ANSWER, *REFERENCES)))
        for item in items
        if isinstance(item, Mapping)
    )


def _are_switched(items: list[Any]) -> bool:
    """Tell whether one of some metrics has all that HarpIA documents of a metric."""
    return any(
        {"id", "parameters"} <= item.keys()
        and bool(key_in(item, ("enable", "enabled")))
        for item in items
        if isinstance(item, Mapping)
    )


def _has_metrics(key: str, value: Any) -> bool:
    is_list = key.casefold() in METRICS and isinstance(value, list)
    return is_list and any(map(_is_metric, value))


def _is_metric(item: Any) -> bool:
    if not isinstance(item, Mapping) or "score" in item:
        return False
    return bool(key_in(item, ("enable", "enabled"))) or (
        {"id", "parameters"} <= item.keys()
    )


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an input."""

    id: str
    enabled: bool
    parameters: Any


def metrics_of(header: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return the metrics in an input's `header`, valid or not, that have an id."""
    items = header.get("metrics", header.get("metricas"))
    return tuple(
        Metric(item["id"], is_enabled(item), item.get("parameters", {}))
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("id"), str)
    )


def is_enabled(metric: Mapping[str, Any]) -> bool:
    """Tell whether `metric` is enabled; it is if it does not say."""
    value = metric.get("enable", metric.get("enabled", True))
    return value is not False and value != "false"


def metric_of(item: Mapping[str, Any]) -> str:
    """Return the metric that an output item or a log's row names, or ""."""
    key = key_in(item, METRIC)
    value = item[key] if key else ""
    return value if isinstance(value, str) else ""


def same(one: Any, other: Any) -> bool:
    """Tell whether two decoded JSON values are equal: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


ENABLE, LIST_NAME, PARAMETER_LIST = "H105", "H106", "H107"
BLEU, BERTSCORE, OTHER_METRIC = "H111", "H112", "H113"
MISSPELT, REPEATED, NONE_ENABLED = "H116", "H117", "H118"

#: The metrics that the pages name, in lower case and as they are written.
_names = {"bleu": "BLEU", "bertscore": "BERTScore"}
#: Other metrics, whose names are nearly the same.
_no_misspelling = frozenset({"gleu", "bartscore"})
#: The parameters of NLTK's sentence_bleu and corpus_bleu apart from the texts.
NLTK_BLEU = frozenset("weights smoothing_function auto_reweigh".split())
#: The parameters of BERTScore's compute in Hugging Face Evaluate apart from the texts.
HF_BERTSCORE = frozenset(
    "lang model_type num_layers verbose idf device batch_size nthreads all_layers "
    "rescale_with_baseline baseline_path use_fast_tokenizer".split()
)


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the members of an input around its instances."""
    if not isinstance(document, Mapping):
        return
    for key in document:
        if key != "metrics" and key.casefold() in METRICS:
            yield _other_name(key)
    metrics = document.get("metrics")
    for index, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(metric, Mapping):
            path: Path = ("metrics", index)
            yield from _check_enable(metric, path)
            yield from parameter_remarks(metric, path)
            yield from _check_names(metric, path)
    if isinstance(metrics, list) and metrics:
        yield from _check_enabled(metrics)


def parameter_remarks(owner: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if the `parameters` of `owner`, at `path`, are no object."""
    if "parameters" not in owner:
        yield Remark(
            PARAMETER_LIST,
            path,
            "the key parameters is missing",
            'give "parameters": {} if the metric takes none',
        )
    elif isinstance(owner["parameters"], list):
        yield Remark(
            PARAMETER_LIST,
            (*path, "parameters"),
            "the parameters are a list, so they have no names",
            "give an object of names and values",
        )


def _other_name(key: str) -> Remark:
    return Remark(
        LIST_NAME,
        (key,),
        f'"{key}" is not validated: the list of metrics is called "metrics"',
        'rename it to "metrics"',
        at_key=True,
    )


def _check_enable(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield a remark if `enable` is not there, or not a boolean."""
    key = "enable" if "enable" in metric else "enabled"
    if key not in metric:
        yield Remark(
            ENABLE, path, "enable is missing, so it is true", 'give "enable": true'
        )
    elif key == "enabled":
        yield Remark(
            ENABLE,
            (*path, key),
            '"enabled" is not how HarpIA spells "enable"',
            'rename it to "enable"',
            at_key=True,
        )
    elif isinstance(metric[key], str):
        value = metric[key]
        yield Remark(
            ENABLE, (*path, key), "enable is text", f'write {value}, not "{value}"'
        )


def _check_names(metric: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    """Yield remarks on an unknown metric id and on unknown names of parameters."""
    words = re.findall("[a-z]+", str(metric.get("id", "")).casefold())
    is_bleu, is_bertscore = "bleu" in words, "bertscore" in "".join(words)
    if is_bleu:
        yield from _unknown_parameters(metric, path, NLTK_BLEU, (BLEU, "NLTK's BLEU"))
    elif is_bertscore:
        source = "BERTScore of Hugging Face Evaluate"
        yield from _unknown_parameters(metric, path, HF_BERTSCORE, (BERTSCORE, source))
    elif "id" in metric:
        yield _unknown_metric(words, path)
    parameters = metric.get("parameters")
    if isinstance(parameters, Mapping) and (is_bleu or is_bertscore):
        from harpia_converters.harpia import parameter_checks  # noqa: PLC0415 - start-up: for files with metrics only

        values = parameter_checks.bleu_values
        if is_bertscore:
            values = parameter_checks.bertscore_values
        yield from values(parameters, (*path, "parameters"))


def _unknown_metric(words: list[str], path: Path) -> Remark:
    """Return the remark on a metric with other words in its id than known ones."""
    from harpia_formats.model.spelling import nearest  # noqa: PLC0415 - start-up: needed for messages only

    for word in (*words, "".join(words)):
        meant = nearest(word, _names)
        if meant and word not in _no_misspelling:
            return Remark(
                MISSPELT,
                (*path, "id"),
                f"no metric that HarpIA's pages name is called {word}",
                f"write {_names[meant]} if that is meant",
            )
    return Remark(
        OTHER_METRIC,
        (*path, "id"),
        "HarpIA's pages name only two metrics, BLEU and BERTScore",
        "check the id in the HarpIA Lab Library",
    )


def _check_enabled(metrics: list[Any]) -> Iterator[Remark]:
    """Yield remarks on metrics of which none is enabled, or one is enabled twice."""
    enabled = [
        (("metrics", index), metric)
        for index, metric in enumerate(metrics)
        if isinstance(metric, Mapping) and is_enabled(metric)
    ]
    if not enabled:
        yield Remark(
            NONE_ENABLED,
            ("metrics",),
            "no metric is enabled, so nothing is computed",
            'give "enable": true for at least one',
        )
    for number, (path, metric) in enumerate(enabled):
        same_as = (
            other
            for _, other in enabled[:number]
            if other.get("id") == metric.get("id")
            and same(other.get("parameters"), metric.get("parameters"))
        )
        if any(True for _ in same_as):
            yield Remark(
                REPEATED,
                path,
                "an earlier metric has the same id and the same parameters",
                "remove one of them: their results cannot be distinguished",
            )


def _unknown_parameters(
    metric: Mapping[str, Any],
    path: Path,
    known: frozenset[str],
    source: tuple[str, str],
) -> Iterator[Remark]:
    """Yield a remark for each parameter that is not among those `known`."""
    code, function = source
    names = metric.get("parameters")
    for name in names if isinstance(names, Mapping) else ():
        if name not in known:
            yield Remark(
                code,
                (*path, "parameters", name),
                f"{function} has no parameter of this name",
                f"use one of {', '.join(sorted(known))}",
                at_key=True,
            )
