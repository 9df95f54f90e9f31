"""The formats lm-eval-samples and lm-eval-results.

Samples are checked against the results of their run (A201, A202).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.lm_eval.rules import OTHER_COUNT, OTHER_HASH
from harpia_formats.model.format import (
    Companion,
    Container,
    Dialect,
    FileSummary,
    Format,
    Remark,
    Totals,
)

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


def samples_names(results_name: str, tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files of samples of these tasks, given their results."""
    date = results_date(results_name)
    if not date:
        return ()
    return tuple(f"{_samples_start}{task}_{date}.jsonl" for task in tasks)


def _members(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return value if isinstance(value, Mapping) else {}


def expectations_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what results, valid or not, say of the samples of each task."""
    hashes, counts = _members(document, "task_hashes"), _members(document, "n-samples")
    tasks = [*_members(document, "configs"), *counts, *hashes]
    return {
        task: (_members(counts, task).get("effective"), hashes.get(task))
        for task in dict.fromkeys(tasks)
    }


def _of_task(expected: Mapping[str, Any], name: str) -> Any:
    """Return the expectation of the file called `name`: its task, and its notes."""
    task, _ = task_and_date(name)
    if not task and len(expected) == 1:
        (task,) = expected
    return task, expected.get(task)


def _closing(expected: Any, seen: FileSummary) -> Iterator[Remark]:  # noqa: ARG001 - the shape of `Companion.closing`
    """Yield a remark if the results have nothing of the task (A201)."""
    task, known = expected
    if task and known is None:
        yield Remark(
            OTHER_COUNT,
            (),
            f"the results have no task {task}",
            "give the results of the run that wrote the samples",
        )


def _totals(expected: Any) -> Totals:
    from harpia_converters.lm_eval.task_totals import TaskTotals  # noqa: PLC0415 - start-up: only with results

    _, known = expected
    return TaskTotals(*(known or (None, None)))


def _refusal(document: Mapping[str, Any], name: str, samples: str) -> str:
    """Return why samples are not of the run of the results: the task, or the date."""
    task, date = task_and_date(samples)
    tasks = expectations_of(document)
    if task and tasks and task not in tasks:
        return f"the results have no task {task} (they have: {', '.join(tasks)})"
    own = results_date(name)
    return f"the results are of {own}" if date and own and date != own else ""


#: How samples are checked against the results of their run.
COMPANION = Companion(
    format=RESULTS,
    expect=expectations_of,
    of_file=_of_task,
    closing=_closing,
    file_names=samples_names,
    has_several_files=True,
    totals=_totals,
    totals_codes=(OTHER_COUNT, OTHER_HASH),
    names_for=results_names,
    refusal=_refusal,
    without="the model is not known, and the type of the task is guessed by its rows",
)


_sample_dialect = partial(
    Dialect,
    lints="harpia_converters.lm_eval.lints:LINTS",
    reads_nan=True,
    one_of=frozenset({"resps"}),
)
SAMPLES_FORMAT = Format(
    id=SAMPLES,
    title="Requests and answers of one task, with metrics (samples_*.jsonl)",
    vendor=VENDOR,
    adapter="harpia_converters.lm_eval.mapping:SAMPLES",
    read_only=True,
    companion=COMPANION,
    dialects=(
        _sample_dialect(SAMPLES, objects_sign),
        # Until 0.4.2, and what `simple_evaluate` returns in Python.
        _sample_dialect("lm-eval-samples-lists", lists_sign, "lists"),
    ),
    id_key="doc_id",
    ids_repeat=True,
)


RESULTS_FORMAT = Format(
    id=RESULTS,
    title="Metrics by task and filter, with all settings (results_*.json)",
    vendor=VENDOR,
    dialects=(
        Dialect(
            RESULTS,
            results_sign,
            container=Container.DOCUMENT,
            reads_nan=True,
            one_of=frozenset({"n-shot"}),
        ),
    ),
)
