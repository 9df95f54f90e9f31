"""The rules R1 of HELM: what a run lacks, and requests that failed."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

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

RULES = (
    Rule(
        "R101",
        "missing-run-file",
        Severity.WARNING,
        "The folder of a run should have all files of the run.",
        "Without per_instance_stats.json there are no scores, without run_spec.json "
        "and scenario.json the run and its scenario have no names, and without "
        "stats.json the number of instances is not checked. Give the whole folder.",
        _run.replace(b', "per_instance_stats.json"', b"").replace(_stats, b"null"),
        _run,
        "helm",
    ),
    Rule(
        "R102",
        "instance-without-statistics",
        Severity.WARNING,
        "Each instance should have an entry in per_instance_stats.json.",
        "An entry belongs to an instance of the same id, trial and perturbation. An "
        "instance without one has no scores. The two files may be of two runs, or one "
        "was cut.",
        _run.replace(_stats, b"[]"),
        _run,
        "helm",
    ),
    Rule(
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
        _run,
        "helm",
    ),
    Rule(
        "R104",
        "failed-request",
        Severity.NOTE,
        "Each request should have succeeded.",
        "A request that failed, or was not sent, has no answer. It is read as an "
        "answer with an error, and counts in no score that is computed.",
        _run.replace(_state, _failed),
        _run,
        "helm",
    ),
    Rule(
        "R105",
        "other-number-of-instances",
        Severity.WARNING,
        "A run should have as many instances of each split as stats.json says.",
        "stats.json has the number of instances without perturbation of each split. If "
        "it differs, a file was cut, or the files are of two runs.",
        _run.replace(b'"num_instances": {"test": 1}', b'"num_instances": {"test": 2}'),
        _run,
        "helm",
    ),
    Rule(
        "R106",
        "scenario-state-alone",
        Severity.NOTE,
        "A scenario_state.json should be read with the files beside it.",
        "It holds requests and completions. The scores are in per_instance_stats.json, "
        "and are read if the folder of the run is given.",
        _alone,
        _run,
        "helm",
    ),
)
