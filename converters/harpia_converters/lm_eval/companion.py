"""Check samples against the results of their run (rules A201, A202)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.lm_eval.detection import (
    RESULTS,
    results_date,
    results_names,
    samples_names,
    task_and_date,
)
from harpia_converters.lm_eval.rules import OTHER_COUNT, OTHER_HASH
from harpia_formats.model.format import Companion, FileSummary, Remark, Totals


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
    """Return the expectation of the file called `name`: its task, and what is said."""
    task, _ = task_and_date(name)
    if not task and len(expected) == 1:
        (task,) = expected
    return task, expected.get(task)


def _no_remarks(expected: Any, row: Mapping[str, Any]) -> Iterator[Remark]:  # noqa: ARG001 - the shape of `Companion.remarks`
    return iter(())


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


def _file_names(name: str, expected: Mapping[str, Any]) -> tuple[str, ...]:
    return samples_names(name, tuple(expected))


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
    remarks=_no_remarks,
    closing=_closing,
    file_names=_file_names,
    has_several_files=True,
    totals=_totals,
    totals_codes=(OTHER_COUNT, OTHER_HASH),
    beside=results_names,
    refusal=_refusal,
    without="the model is not known, and the type of the task is guessed by its rows",
)
