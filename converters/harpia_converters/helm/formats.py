"""The format helm, a run's folder or its scenario_state.json alone; its rules (R1)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path, Severity
from harpia_formats.model.safe_text import safe

VENDOR = "HELM"
#: The member of a document that holds its rows.
ROWS = "request_states"
#: The dialect of a scenario_state.json without the files next to it.
ALONE = "scenario-state"
#: The file by which a folder is a run.
STATE_FILE = "scenario_state.json"


STATS_FILE = "per_instance_stats.json"
#: The files of a run but scenario_state.json, and what is not known without them.
FILES = {
    "run_spec.json": "the name and the settings of the run are not known",
    "scenario.json": "the name of the scenario is not known",
    STATS_FILE: "there are no scores",
    "stats.json": "the number of instances is not checked",
}


def is_run(names: frozenset[str]) -> bool:
    """Tell whether a folder with entries of these names is the folder of a run."""
    return STATE_FILE in names


def run_sign(document: Mapping[str, Any]) -> str:
    """Return by what `document` is a run folder that was read as one document."""
    is_one = document.keys() >= {"files", "run_spec", ROWS}
    return f"`run_spec` and `{ROWS}`" if is_one else ""


def state_sign(document: Mapping[str, Any]) -> str:
    """Return by what `document` is a scenario_state.json."""
    is_one = document.keys() >= {"adapter_spec", ROWS}
    return f"`adapter_spec` and `{ROWS}`" if is_one else ""


def run_remarks(run: Any) -> Iterator[Remark]:
    """Yield remarks on a run without its instances (R101, R103, R105)."""
    for name, lack in FILES.items():
        if name not in run["files"]:
            help_ = f"give the whole folder: {lack}"
            yield Remark("R101", ("files",), f"the run has no {name}", help_)
    left = run.get("stats_without_instance", {})
    if left.get("count"):
        entries = (
            "1 entry is" if left["count"] == 1 else f"{left['count']:,} entries are"
        )
        message = f"{entries} about no instance of the run, such as {_first(left)}"
        help_ = "take both files from one run: these statistics are not read"
        yield Remark("R103", ("stats_without_instance",), message, help_)
    yield from _counts(run.get("instances", {}), run.get("num_instances", {}))


def _first(left: Mapping[str, Any]) -> str:
    """Return the instance of the first entry without one."""
    entry, *_ = left.get("first") or [None]
    found = entry.get("instance_id") if isinstance(entry, dict) else None
    return safe(str(found), 100)


def _counts(
    instances: Mapping[str, Any], expected: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield a remark for each split with other instances than stats.json says."""
    for split, number in expected.items():
        here = instances.get(split, 0)
        if here != number:
            message = (
                f"there are {here:,.10g} instances of the split {safe(split, 100)}, "
                f"but stats.json says {number:,.10g}"
            )
            help_ = "take all files from one run, and see whether one was cut"
            yield Remark("R105", ("num_instances", split), message, help_)


def instance_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an instance with its requests (R102, R104)."""
    if row["stats"] == []:
        message = f"{STATS_FILE} has nothing about this instance"
        help_ = "take both files from one run: the instance has no scores"
        yield Remark("R102", ("stats",), message, help_)
    for at, state in enumerate(row["states"]):
        yield from request_remarks(state, ("states", at))


def request_remarks(state: Any, path: Path = ()) -> Iterator[Remark]:
    """Yield a remark on the request at `path` if it failed or was not sent (R104)."""
    result = state.get("result")
    if result is None:
        message = "the request has no result: it was not sent"
        yield Remark("R104", path, message, "run it: there is no answer to score")
    elif not result["success"]:
        reason = result.get("error")
        message = f"the request failed{f': {safe(reason, 100)}' if reason else ''}"
        help_ = "run it again: there is no answer to score"
        yield Remark("R104", (*path, "result", "success"), message, help_)


def alone_remarks(document: Any) -> Iterator[Remark]:  # noqa: ARG001 - the shape of `Remarks`
    """Yield the remark that a scenario_state.json has no scores (R106)."""
    message = f"there are no scores in {STATE_FILE}"
    help_ = "give the folder of the run: the scores are in per_instance_stats.json"
    yield Remark("R106", (), message, help_)


FORMAT = Format(
    id="helm",
    title="A run folder: instances with their requests, completions and statistics",
    vendor=VENDOR,
    adapter="harpia_converters.helm.mapping:RUN",
    read_only=True,
    id_key="instance_id",
    ids_repeat=True,
    dialects=(
        Dialect(
            "helm",
            run_sign,
            container=Container.WRAPPED,
            rows_at=ROWS,
            remarks=instance_remarks,
            header_remarks=run_remarks,
            one_of=frozenset({"run_spec"}),
        ),
        Dialect(
            "helm-scenario-state",
            state_sign,
            name=ALONE,
            container=Container.WRAPPED,
            rows_at=ROWS,
            remarks=request_remarks,
            header_remarks=alone_remarks,
            one_of=frozenset({"adapter_spec"}),
        ),
    ),
)
UNPACKER = Unpacker(
    "helm-run", is_folder=is_run, open="harpia_converters.helm.run_folder:parts"
)


_state = (
    b'{"instance": {"id": "id1", "input": {"text": "2+2?"}, "references": '
    b'[{"output": {"text": "4"}, "tags": ["correct"]}], "split": "test"}, '
    b'"train_trial_index": 0, "request": {"model": "org/m", "prompt": "2+2?"}, '
    b'"result": {"success": true, "completions": [{"text": "4"}]}}'
)
_stats = (
    b'[{"instance_id": "id1", "train_trial_index": 0, "stats": [{"name": {"name": '
    b'"exact_match", "split": "test"}, "count": 1, "sum": 1, "mean": 1}]}]'
)
_files = b'["run_spec.json", "scenario.json", "per_instance_stats.json", "stats.json"]'
_run = (
    b'{"files": ' + _files + b', "run_spec": {"name": "sums:model=m"}, "scenario": '
    b'{"name": "sums"}, "request_states": [{"instance_id": "id1", "states": ['
    + _state
    + b'], "stats": '
    + _stats
    + b'}], "instances": {"test": 1}, "num_instances": {"test": 1}}\n'
)
_failed = _state.replace(b'"success": true', b'"success": false, "error": "timeout"')
_alone = (
    b'{"adapter_spec": {"method": "generation"}, "request_states": [%s]}\n' % _state
)

_rule = partial(Rule, good=_run, validated_as="helm")

RULES = (
    _rule(
        "R101",
        "missing-run-file",
        Severity.WARNING,
        "The folder of a run should have all files of the run.",
        "Without per_instance_stats.json there are no scores, without run_spec.json "
        "and scenario.json the run and its scenario have no names, and without "
        "stats.json the number of instances is not checked. Give the whole folder.",
        _run.replace(b', "per_instance_stats.json"', b"").replace(_stats, b"null"),
    ),
    _rule(
        "R102",
        "instance-without-statistics",
        Severity.WARNING,
        "Each instance should have an entry in per_instance_stats.json.",
        "An entry belongs to an instance of the same id, trial and perturbation. An "
        "instance without one has no scores. The two files may be of two runs, or one "
        "was cut.",
        _run.replace(_stats, b"[]"),
    ),
    _rule(
        "R103",
        "statistics-without-instance",
        Severity.WARNING,
        "Each entry of per_instance_stats.json should be about an instance of the run.",
        "Statistics without an instance are not read. The two files may be of two "
        "runs, or scenario_state.json was cut.",
        _run.replace(
            b', "num_instances"',
            b', "stats_without_instance": {"count": 1, "first": [{"instance_id": '
            b'"id2", "train_trial_index": 0, "stats": []}]}, "num_instances"',
        ),
        in_reading=True,
    ),
    _rule(
        "R104",
        "failed-request",
        Severity.NOTE,
        "Each request should have succeeded.",
        "A request that failed, or was not sent, has no answer. It is read as an "
        "answer with an error, and counts in no score that is computed.",
        _run.replace(_state, _failed),
    ),
    _rule(
        "R105",
        "other-number-of-instances",
        Severity.WARNING,
        "A run should have as many instances of each split as stats.json says.",
        "stats.json has the number of instances without perturbation of each split. If "
        "it differs, a file was cut, or the files are of two runs.",
        _run.replace(b'"num_instances": {"test": 1}', b'"num_instances": {"test": 2}'),
        in_reading=True,
    ),
    _rule(
        "R106",
        "scenario-state-alone",
        Severity.NOTE,
        "A scenario_state.json should be read with the other files of its folder.",
        "It holds requests and completions. The scores are in per_instance_stats.json, "
        "and are read if the folder of the run is given.",
        _alone,
    ),
)
