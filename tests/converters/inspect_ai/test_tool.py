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
from msgspec import to_builtins

import harpia_formats

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
outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
for each in outputs:  # else Inspect fetches a tokenizer
    each.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
model = get_model("mockllm/model", custom_outputs=outputs)
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
#: Runs a task with scores of several kinds and a sample that fails; prints the means.
SCORES = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, match, mean, scorer
from inspect_ai.solver import solver
folder, ending = sys.argv[1:]
@scorer(metrics=[mean()])
def sometimes():
    async def score(state, target):
        return Score(value=float("nan") if state.sample_id == "a/b" else 0.75)
    return score
@scorer(metrics=[mean()])
def never():
    async def score(state, target):
        return Score(value=float("nan"))
    return score
@scorer(metrics={"exact": [mean()], "half": [mean()]})
def several():
    async def score(state, target):
        return Score(value={"exact": "C", "half": 0.5})
    return score
@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == "fails":
            raise RuntimeError("no sandbox")
        return await generate(state)
    return solve
outputs = [ModelOutput.from_content("mockllm/model", "Lima") for _ in range(2)]
for each in outputs:
    each.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
samples = [Sample("q", id=id_, target="Lima") for id_ in ("a/b", "fails", "c d")]
scorers = [match(), sometimes(), never(), several()]
task = Task(samples, failing(), scorer=scorers, fail_on_error=False, name="demo")
model = get_model("mockllm/model", custom_outputs=outputs)
options = {"log_dir": folder, "log_format": ending, "display": "none", "max_samples": 1}
(log,) = eval(task, model=model, **options)
names = {"exact": "several.exact", "half": "several.half"}
print(json.dumps({
    names.get(score.name, score.name): metric.value
    for score in log.results.scores
    for name, metric in score.metrics.items()
    if name in ("accuracy", "mean") and metric.value == metric.value
}))
"""
needs_inspect = pytest.mark.skipif(
    not PYTHON, reason="set HARPIA_INSPECT to a Python with Inspect"
)


@needs_inspect
@pytest.mark.parametrize("ending", ["eval", "json"])
def test_stored_scores_of_the_tool(ending: str, tmp_path: Path) -> None:
    """The means of stored scores are those of Inspect; NaN and errors are unscored."""
    done = subprocess.run(  # noqa: S603 - the Python that the caller named
        [PYTHON, "-c", SCORES, str(tmp_path / "logs"), ending],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    expected = json.loads(done.stdout.splitlines()[-1])
    (path,) = (tmp_path / "logs").iterdir()
    report = harpia_formats.validate(path)
    scores = harpia_formats.score(path, stored=True, missing="skip")

    assert report.ok
    assert {problem.code for problem in report.problems} == {"I201", "I202", "J209"}
    assert {score.name: score.value for score in scores} == pytest.approx(expected)


@needs_inspect
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
    found = [to_builtins(record) for record in harpia_formats.read(path)]

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
