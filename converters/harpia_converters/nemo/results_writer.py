"""Write scores as nemo-results: a tree of tasks or groups, as NVIDIA's services do.

The signature of each score is in `custom_fields.harpia_formats.signatures` at
`METRIC.SCORE`; the messages of the run are in `notes` next to it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from harpia_converters.nemo.formats import SHARES
from harpia_formats.evaluation.scoring.measures.metric_score import Group, MetricScore
from harpia_formats.evaluation.scoring.measures.outcomes import ScoredAnswer
from harpia_formats.evaluation.scoring.results.result_format import (
    Files,
    ResultFormat,
    ResultRun,
)
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.model.exact_json import encode
from harpia_formats.model.vendor_metrics import ScoreError

TREES = ("tasks", "groups")
#: The name of the task or group where nothing gives one.
TASK = "evaluation"
#: Groups of answers without a value that are noted one by one, of each score.
_LISTED = 5


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the tree at the end; it has no scores of single answers."""

    files: Files
    names: Mapping[str, str]

    def add(self, scored: ScoredAnswer) -> None:
        """Ignore an answer: only scores over all answers are written."""

    def close(self, scores: Scores) -> None:
        """Write the tree."""
        document = document_of(scores, self.names)
        self.files.write(msgspec.json.format(encode(document), indent=2) + b"\n")

    def drop(self) -> None:
        """Do nothing: no file is held."""


def document_of(scores: Scores, names: Mapping[str, str]) -> dict[str, Any]:
    """Return `scores` as a results document; `names` may have `job`, `task` and `tree`.

    A score without a value is left out, since NVIDIA's types require a number, and
    listed in `notes`. Groups of scores become groups of the document, and so do several
    models, which have no common scores.
    """
    is_split = len(scores.systems) > 1
    systems = (system for system in scores.systems if system.key)
    groups = _groups_of((*systems, *scores.groups))
    whole = {} if is_split else _metrics_of(scores.total)
    task = names.get("task") or TASK
    document: dict[str, Any] = {"job": names["job"]} if names.get("job") else {}
    if is_split or names.get("tree") == "groups":
        document["groups"] = {task: {**whole, **groups}}
    else:
        document |= {"tasks": {task: whole}, **groups}
    signatures = {
        f"{score.metric}.{score.name}": score.signature
        for system in scores.systems
        for score in system.scores
    }
    ours: dict[str, Any] = {"signatures": signatures}
    notes = list(dict.fromkeys([*scores.notes, *_left_out(scores)]))
    if notes:
        ours["notes"] = notes
    return {**document, "custom_fields": {"harpia_formats": ours}}


def _metrics_of(group: Group) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for score in group.scores:
        metric = metrics.setdefault(score.metric, {"scores": {}})
        if score.value is not None:
            # In floats, the BLEU of equal texts is a little above 1.
            value = min(score.value, 1.0) if score.name in SHARES else score.value
            stats = stats_of(replace(score, value=value))
            metric["scores"][score.name] = {"value": value, "stats": stats}
    return {"metrics": metrics}


def stats_of(score: MetricScore) -> dict[str, Any]:
    """Return the `stats` of a score that has a value.

    A score of the corpus is one value. Variance and standard deviation are those of the
    population. The standard error is that of the mean by question.
    """
    if not score.is_mean:
        return {"count": 1, "sum": score.value, "mean": score.value}
    spread = score.spread
    return {
        "count": spread.count,
        "sum": spread.sum,
        "sum_squared": spread.sum_squares,
        "min": spread.minimum,
        "max": spread.maximum,
        "mean": score.value,
        "variance": spread.variance,
        "stddev": spread.deviation,
        "stderr": score.standard_error,
        "nan_count": score.unscored,
    }


def _groups_of(groups: Iterable[Group]) -> dict[str, Any]:
    """Return groups as nested members, one level for each field of their key."""
    tree: dict[str, Any] = {}
    for group in groups:
        node = tree
        for field, value in group.key.items():
            level = node.setdefault("groups", {})
            node = level.setdefault(f"{field}={value}", {})
        node |= _metrics_of(group)
    return tree


def _left_out(scores: Scores) -> Iterable[str]:
    """Yield why scores have no value, for people: of each score for the first groups.

    That questions of a system have too few answers is among the notes of the scores.
    """
    notes: dict[str, list[str]] = {}
    for number, group in enumerate((*scores.systems, *scores.groups)):
        key = ", ".join(f"{name}={value}" for name, value in group.key.items())
        whose = f" of {key}" if key else ""
        is_system = number < len(scores.systems)
        for score in group.scores:
            if score.value is None and not (is_system and score.left_out.questions):
                found = notes.setdefault(f"{score.metric}.{score.name}", [])
                found.append(_note(score, whose))
    for name, found in notes.items():
        yield from found[:_LISTED]
        more = len(found) - _LISTED
        if more > 0:
            yield f"{name} has no value for {more:,} more groups"


def _note(score: MetricScore, whose: str) -> str:
    """Return why a score has no value; `whose` it is stands behind its name."""
    if score.left_out.questions:
        return score.left_out.note(f"{score.full_name}{whose}", 0)
    why = "no answer could be scored"
    if score.count:
        # The remark of other scores is on their interval.
        remark = score.remark if score.confusion else ""
        why = remark or "it is not defined for these answers"
    return f"{score.metric}.{score.name}{whose} has no value: {why}"


def _writer(files: Files, run: ResultRun) -> _Writer:
    tree = run.names.get("tree", TREES[0])
    if tree not in TREES:
        raise ScoreError(f"tree must be {' or '.join(TREES)}, not {tree!r}")
    for metric in run.measured:
        shares = [name for name in metric.names if name in SHARES]
        if shares and metric.measure.scale != "0-1":
            raise ScoreError(
                f"{shares[0]} must be from 0 to 1 in NeMo's results, but is computed "
                f"from 0 to 100; give `--param {metric.request.label}.scale=0-1` or "
                "another `--profile`"
            )
    return _Writer(files, run.names)


RESULTS = ResultFormat(
    id="nemo-results",
    profile="nemo",
    writer=_writer,
    holds_models=True,
    takes_questions=True,
    takes_labels=True,
    names={
        "task": "the name of the task or group of the scores",
        "tree": "where the scores are put: tasks or groups",
        "job": "the name of the evaluation job, which some readers require",
    },
)
