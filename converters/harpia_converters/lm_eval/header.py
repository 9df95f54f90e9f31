"""What the results of a run say of the samples of one of its tasks."""

from collections.abc import Mapping
from typing import Any

from harpia_converters.lm_eval.detection import task_and_date
from harpia_converters.lm_eval.requests import OUTPUT_TYPES
from harpia_formats.model.record import Header

_vendor = "lm-eval"
#: Members of results of which each task has its own.
_of_tasks = ("configs", "results")


def around_of(document: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return what samples are read with, given their results and their file's name.

    Without results that is the task that the name of the file has.
    """
    task, _ = task_and_date(name)
    configs = document.get("configs")
    if not isinstance(configs, Mapping):
        configs = {}
    if not task and len(configs) == 1:
        (task,) = configs
    config = configs.get(task)
    if not isinstance(config, Mapping):
        config = {}
    found = {
        "task": task,
        "model": document.get("model_name"),
        "version": document.get("lm_eval_version"),
        "output_type": config.get("output_type"),
    }
    if found["output_type"] not in OUTPUT_TYPES:
        found["output_type"] = None
    known = {key: value for key, value in found.items() if value}
    known["delimiter"] = config.get("target_delimiter")
    return {key: value for key, value in known.items() if isinstance(value, str)}


def header_of(document: Mapping[str, Any]) -> Header:
    """Return the header that results give: the settings and metrics of the run."""
    return Header(extra={_vendor: dict(document)})
