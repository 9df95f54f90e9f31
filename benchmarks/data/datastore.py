"""Generate records of EvalEval 0.3.0 in the folders that its validator requires."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from data.generate import Value, rows

#: Folders and file name that the validator accepts: collection, developer, model, id.
FOLDERS = ("data", "gsm8k", "org", "model-7b")
NAME = "0f6c1d8e-5b7a-4c3d-9e2f-1a2b3c4d5e6f"


def in_new_shape(row: Value) -> Value:
    """Return a generated record of version 0.2.0 as one of version 0.3.0."""
    question, answer, turns = row["input"], row["output"], row["interactions"]
    metadata = dict(row["metadata"])
    if "run_label" in row:
        metadata["run_label"] = row["run_label"]
    changed = {
        "schema_version": "0.3.0",
        "input": {**question, "reference": [question["reference"]]},
        "output": answer and {key: [value] for key, value in answer.items()},
        "messages": turns and [_message(turn) for turn in turns],
        "answer_attribution": [
            _attribution(attribution) for attribution in row["answer_attribution"]
        ],
        "evaluation": {**row["evaluation"], "score": float(row["evaluation"]["score"])},
        "metadata": _texts(metadata),
    }
    gone = ("interactions", "run_label")
    kept = {key: value for key, value in row.items() if key not in gone}
    return {**kept, **changed}


def _message(turn: Value) -> Value:
    """Return a turn with its tool calls and their ids in the form of 0.3.0."""
    changed: Value = {}
    if turn["tool_calls"]:
        changed["tool_calls"] = [
            {**call, "arguments": _texts(call["arguments"])}
            for call in turn["tool_calls"]
        ]
    if "tool_call_id" in turn:
        changed["tool_call_id"] = [turn["tool_call_id"]]
    return {**turn, **changed}


def _attribution(step: Value) -> Value:
    """Return a step of an attribution with the key of turns in 0.3.0."""
    return {**step, "source": step["source"].replace("interactions[", "messages[")}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as strings, since 0.3.0 allows no other type there."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }


def new_rows(count: int) -> Iterator[bytes]:
    """Yield `count` lines of records of 0.3.0."""
    for line in rows(count):
        row = in_new_shape(json.loads(line))
        yield json.dumps(row, ensure_ascii=line.isascii()).encode() + b"\n"


def aggregate(count: int) -> Value:
    """Return the aggregate of a file of `count` samples."""
    result = {
        "evaluation_name": "gsm8k",
        "source_data": {"dataset_name": "gsm8k", "source_type": "other"},
        "metric_config": {
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {"score": 0.5},
    }
    details = {"deployment_type": "unknown", "model_availability": "open_weights"}
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "gsm8k/org_model-7b/1751729998",
        "retrieved_timestamp": "1751729998",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "org",
            "evaluator_relationship": "first_party",
        },
        "eval_library": {"name": "harness", "version": "unknown"},
        "model_info": {
            "name": "model-7b",
            "id": "org/model-7b",
            "developer": "org",
            "additional_details": details,
        },
        "evaluation_results": [result],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": "/".join((*FOLDERS, f"{NAME}_samples.jsonl")),
            "total_rows": count,
        },
    }


def datastore(folder: Path, count: int, *, broken: bool = False) -> tuple[Path, Path]:
    """Write a samples file of `count` rows and its aggregate; return both paths.

    With `broken` an empty object is added as a further row.
    """
    name = f"datastore-{count}-rows{'-broken' if broken else ''}"
    place = folder.joinpath(name, *FOLDERS)
    samples, whole = place / f"{NAME}_samples.jsonl", place / f"{NAME}.json"
    if not whole.exists():
        place.mkdir(parents=True, exist_ok=True)
        with samples.open("wb") as file:
            file.writelines(new_rows(count))
            file.write(b"{}\n" if broken else b"")
        part = whole.with_suffix(".part")
        part.write_text(json.dumps(aggregate(count)), encoding="utf-8")
        part.replace(whole)
    return samples, whole
