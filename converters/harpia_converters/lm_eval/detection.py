"""The signs of the files of lm-evaluation-harness, and which belong together."""

from collections.abc import Mapping
from typing import Any

VENDOR = "lm-evaluation-harness"
SAMPLES, RESULTS = "lm-eval-samples", "lm-eval-results"

_row_keys = ("doc_id", "doc", "arguments", "resps", "filtered_resps")
_results_keys = ("results", "configs", "versions", "n-shot")
_samples_start, _results_start = "samples_", "results_"


def objects_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample with named requests, or ""."""
    return _sign(row, _row_keys) if isinstance(row.get("arguments"), dict) else ""


def lists_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample with a list of requests, or ""."""
    return _sign(row, _row_keys) if isinstance(row.get("arguments"), list) else ""


def results_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` holds the results of tasks, or ""."""
    return _sign(document, _results_keys)


def _sign(owner: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return `keys` as text if `owner` has them all, else ""."""
    if not all(key in owner for key in keys):
        return ""
    *first, last = (f"`{key}`" for key in keys)
    return f"{', '.join(first)} and {last}"


def task_and_date(name: str) -> tuple[str, str]:
    """Return the task and the date in the name of a file of samples, "" without them.

    The task is between the first and the last underscore, since it may have some.
    """
    stem = name.removesuffix(".jsonl").removesuffix(".json")
    if stem == name or not stem.startswith(_samples_start):
        return "", ""
    task, _, date = stem.removeprefix(_samples_start).rpartition("_")
    return (task, date) if task else ("", "")


def results_names(samples_name: str) -> tuple[str, ...]:
    """Return the name of the results of the run to which a file of samples belongs."""
    _, date = task_and_date(samples_name)
    return (f"{_results_start}{date}.json",) if date else ()


def results_date(name: str) -> str:
    """Return the date in the name of a file of results, "" without one."""
    stem = name.removesuffix(".json")
    if stem == name or not stem.startswith(_results_start):
        return ""
    return stem.removeprefix(_results_start)


def samples_names(results_name: str, tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the files of samples of these tasks, given their results."""
    date = results_date(results_name)
    if not date:
        return ()
    return tuple(f"{_samples_start}{task}_{date}.jsonl" for task in tasks)
