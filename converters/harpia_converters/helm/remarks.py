"""Remarks on a run: what is missing, what does not fit, and what failed (R1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.safe_text import safe

STATS_FILE = "per_instance_stats.json"
#: The files of a run but scenario_state.json, and what is not known without them.
FILES = {
    "run_spec.json": "the name and the settings of the run are not known",
    "scenario.json": "the name of the scenario is not known",
    STATS_FILE: "there are no scores",
    "stats.json": "the number of instances is not checked",
}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def run_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a run without its instances (R101, R103, R105)."""
    run = _object(document)
    found = run.get("files")
    for name, lack in FILES.items():
        if isinstance(found, list) and name not in found:
            help_ = f"give the whole folder: {lack}"
            yield Remark("R101", ("files",), f"the run has no {name}", help_)
    left = _object(run.get("stats_without_instance"))
    if left.get("count"):
        entries = (
            "1 entry is" if left["count"] == 1 else f"{left['count']:,} entries are"
        )
        message = f"{entries} about no instance of the run, such as {_first(left)}"
        help_ = "take both files from one run: these statistics are not read"
        yield Remark("R103", ("stats_without_instance",), message, help_)
    yield from _counts(_object(run.get("instances")), _object(run.get("num_instances")))


def _first(left: Mapping[str, Any]) -> str:
    """Return the instance of the first entry without one."""
    entries = left.get("first") or [{}]
    return safe(str(_object(entries[0]).get("instance_id")), 100)


def _counts(
    instances: Mapping[str, Any], expected: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield a remark for each split with other instances than stats.json says."""
    for split, number in expected.items():
        here = instances.get(split, 0)
        if here != number:
            message = (
                f"there are {here:g} instances of the split {safe(split, 100)}, "
                f"but stats.json says {number:g}"
            )
            help_ = "take all files from one run, and see whether one was cut"
            yield Remark("R105", ("num_instances", split), message, help_)


def instance_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an instance with its requests (R102, R104)."""
    instance = _object(row)
    if instance.get("stats") == []:
        message = f"{STATS_FILE} has nothing about this instance"
        help_ = "take both files from one run: the instance has no scores"
        yield Remark("R102", ("stats",), message, help_)
    states = instance.get("states")
    for at, state in enumerate(states if isinstance(states, list) else ()):
        yield from request_remarks(state, ("states", at))


def request_remarks(state: Any, path: Path) -> Iterator[Remark]:
    """Yield a remark on the request at `path` if it failed or was not sent (R104)."""
    result = _object(state).get("result")
    if result is None:
        message = "the request has no result: it was not sent"
        yield Remark("R104", path, message, "run it: there is no answer to score")
    elif _object(result).get("success") is False:
        reason = _object(result).get("error")
        message = f"the request failed{f': {safe(str(reason), 100)}' if reason else ''}"
        help_ = "run it again: there is no answer to score"
        yield Remark("R104", (*path, "result", "success"), message, help_)
