"""What a log says of its run before its samples, and they do not say themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Run:
    """The run of a log, as far as its samples depend on it; "" for what is unknown."""

    model: str = ""
    task: str = ""
    evaluation_id: str = ""
    #: The version of Inspect.
    version: str = ""
    #: The name of the only scorer, in early logs.
    scorer: str = ""
    #: How many times each sample is run.
    epochs: int = 1


def needed_around(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what `run_of` needs of the members of a log before its samples."""
    run = _object(members, "eval")
    epochs = _object(run, "config").get("epochs")
    return {
        "model": _text(run, "model"),
        "task": _text(run, "task"),
        "evaluation_id": _text(run, "eval_id") or _text(run, "run_id"),
        "version": _text(_object(run, "packages"), "inspect_ai"),
        "scorer": _scorer(_object(members, "results")),
        "epochs": epochs if type(epochs) is int and epochs > 0 else 1,
    }


def run_of(needed: Mapping[str, Any]) -> Run:
    """Return the run of samples, given what `needed_around` returned, or nothing."""
    return Run(**needed)


def _scorer(results: Mapping[str, Any]) -> str:
    """Return the name of the first scorer in the results of a log of any version."""
    scores = results.get("scores")
    if isinstance(scores, list) and scores and isinstance(scores[0], dict):
        return _text(scores[0], "name")
    return _text(_object(results, "scorer"), "name")


def _object(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    return value if isinstance(value, dict) else {}


def _text(owner: Mapping[str, Any], key: str) -> str:
    value = owner.get(key)
    return value if isinstance(value, str) else ""
