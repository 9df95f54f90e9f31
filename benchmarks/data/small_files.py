"""Generate many small files as EvalEval's datastore has them: aggregates, and runs.

A run is an aggregate with a few records in a file of their own next to it.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from data.datastore import aggregate, in_new_shape
from data.generate import SEED, Value, row_of

#: Files of a folder at most, as a model's folder in the datastore has few.
FOLDER = 50
#: Results of an aggregate of about 13 kB, and of the aggregate of a run.
RESULTS, RESULTS_OF_RUN = 6, 1
#: Records of a run at most.
MOST_RECORDS = 10
_SUBJECTS = ("algebra", "history", "law", "biology", "logic", "ethics", "physics")


def result_of(number: int, chance: random.Random) -> Value:
    """Return result `number` of an aggregate, with the fields that converters write."""
    subject = chance.choice(_SUBJECTS)
    samples = chance.randint(50, 3000)
    return {
        "evaluation_name": f"accuracy on {subject}_{number} for scorer choice",
        "source_data": {
            "dataset_name": f"mmlu_{subject}",
            "source_type": "hf_dataset",
            "hf_repo": f"example/mmlu_{subject}",
            "samples_number": samples,
            "sample_ids": [str(chance.randint(1, 99_999)) for _ in range(20)],
            "additional_details": {"shuffled": "False"},
        },
        "evaluation_timestamp": "1751729998.0",
        "metric_config": {
            "evaluation_description": f"share of right answers on {subject}",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": chance.random(),
            "uncertainty": {
                "standard_error": {"value": chance.random() / 50},
                "num_samples": samples,
            },
        },
        "generation_config": {
            "generation_args": {
                "reasoning": False,
                "temperature": 0.0,
                "max_tokens": 1024,
                "agentic_eval_config": {"available_tools": []},
                "eval_plan": {
                    "name": "plan",
                    "steps": ['{"solver": "multiple_choice", "params": {}}'],
                    "config": {},
                },
                "eval_limits": {},
                "sandbox": {},
            },
            "additional_details": {"prompt_template": "Answer with A, B, C or D. " * 8},
        },
    }


def aggregate_of(number: int, results: int, chance: random.Random) -> Value:
    """Return aggregate `number`, which describes no file of records."""
    document = aggregate(1)
    document["evaluation_id"] = f"mmlu/org_model-7b/{number}"
    document["evaluation_results"] = [result_of(n, chance) for n in range(results)]
    del document["detailed_evaluation_results"]
    return document


def aggregates(folder: Path, count: int) -> Path:
    """Write `count` aggregates of about 13 kB below `folder`; return their folder."""
    return _written(folder / f"{count}-aggregates", _aggregates(count))


def runs(folder: Path, count: int) -> Path:
    """Write `count` runs below `folder`, each two files; return their folder."""
    return _written(folder / f"{count}-runs", _runs(count))


def _aggregates(count: int) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(SEED)
    for number in range(count):
        document = aggregate_of(number, RESULTS, chance)
        yield f"{_name(number, chance)}.json", _document(document)


def _runs(count: int) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(SEED)
    for number in range(count):
        name = _name(number, chance)
        size = chance.randint(1, MOST_RECORDS)
        document = aggregate_of(number, RESULTS_OF_RUN, chance)
        # The records name the result that they belong to.
        document["evaluation_results"][0]["evaluation_name"] = "gsm8k"
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"data/{name}_samples.jsonl",
            "total_rows": size,
        }
        yield f"{name}.json", _document(document)
        rows = [in_new_shape(row_of(row, chance)) for row in range(size)]
        for row in rows:
            row["evaluation_id"] = document["evaluation_id"]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        yield f"{name}_samples.jsonl", lines.encode()


def _name(number: int, chance: random.Random) -> str:
    """Return the path of a file without its suffix."""
    identifier = UUID(int=chance.getrandbits(128), version=4)
    return f"mmlu/org/model-{number // FOLDER}/{identifier}"


def _document(value: Value) -> bytes:
    """Return a document as converters write it, over several lines."""
    return json.dumps(value, indent=2).encode()


def _written(folder: Path, files: Iterator[tuple[str, bytes]]) -> Path:
    """Write `files` below `folder` unless that was done before; return `folder`."""
    mark = folder.with_suffix(".complete")
    if not mark.exists():
        for name, data in files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        mark.touch()
    return folder
