"""What Inspect writes is read, and what is written for it is read by Inspect.

`HARPIA_INSPECT` is the Python of an environment in which Inspect is installed:
`python3 -m venv env && env/bin/pip install inspect-ai`.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats.model.record import as_dict

pytestmark = pytest.mark.tools
PYTHON = os.environ.get("HARPIA_INSPECT", "")
#: Runs a task on samples of a data set, and prints what Inspect says of its samples.
PROGRAM = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import json_dataset
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
data, folder, ending = sys.argv[1:]
dataset = json_dataset(data)
texts = ("Lima", "5", "Cusco", "6")
said = [ModelOutput.from_content("mockllm/model", text) for text in texts]
for each in said:  # else Inspect fetches a tokenizer
    each.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
model = get_model("mockllm/model", custom_outputs=said)
task = Task(dataset=dataset, scorer=match(location="exact"), epochs=2, name="demo")
options = {"log_dir": folder, "log_format": ending, "display": "none", "max_samples": 1}
(log,) = eval(task, model=model, **options)
log = read_eval_log(log.location)
print(json.dumps([
    {
        "id": sample.id,
        "epoch": sample.epoch,
        "text": sample.output.completion,
        "target": sample.target,
        "value": sample.scores["match"].value,
        "usage": sample.model_usage["mockllm/model"].total_tokens,
        "location": log.location,
    }
    for sample in log.samples
]))
"""


@pytest.mark.skipif(not PYTHON, reason="set HARPIA_INSPECT to a Python with Inspect")
@pytest.mark.parametrize("ending", ["eval", "json"])
def test_log_of_the_tool(ending: str, tmp_path: Path) -> None:
    """A log of a run on a data set that was written here says what Inspect reads."""
    rows = [
        {"id": "peru", "prompt": "Capital of Peru?", "references": ["Lima"]},
        {"id": "sum", "prompt": "2 + 3?", "references": ["5", "five"]},
    ]
    records = "".join(json.dumps({**row, "outputs": []}) + "\n" for row in rows)
    data = tmp_path / "data.jsonl"
    harpia_formats.convert(records.encode(), to="inspect-dataset", output=data)

    done = subprocess.run(  # noqa: S603 - the Python that the caller named
        [PYTHON, "-c", PROGRAM, str(data), str(tmp_path / "logs"), ending],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    expected = json.loads(done.stdout.splitlines()[-1])
    (path,) = (tmp_path / "logs").iterdir()
    found = [as_dict(record) for record in harpia_formats.read(path)]

    assert harpia_formats.validate(path).ok
    assert len(found) == 4
    assert [_shown(row) for row in found] == [
        {key: value for key, value in row.items() if key != "location"}
        for row in expected
    ]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return of a record what the program prints of a sample."""
    (output,) = row["outputs"]
    (score,) = output["scores"]
    references = row["references"]
    return {
        "id": row["id"],
        "epoch": output["index"] + 1,
        "text": output["text"],
        "target": references[0] if len(references) == 1 else references,
        "value": {True: "C", False: "I"}[score["is_correct"]],
        "usage": output["token_usage"]["total_tokens"],
    }
