"""Detect which of HarpIA's files an object is from, by its keys."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_converters.harpia.keys import (
    ANSWER,
    INSTANCES,
    METRIC,
    METRICS,
    REFERENCES,
    TIME,
    key_in,
)

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
