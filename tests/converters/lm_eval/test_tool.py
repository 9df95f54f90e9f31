"""What lm-evaluation-harness writes is read, and its hashes are what we compute.

`HARPIA_LM_EVAL` is the Python of an environment in which it is installed:
`python3 -m venv env && env/bin/pip install lm-eval`. PyTorch is not needed.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import Record, read, score, validate

pytestmark = pytest.mark.tools
PYTHON = os.environ.get("HARPIA_LM_EVAL", "")
DATA = [
    {"country": "France", "cities": ["Lyon", "Paris"], "label": 1},
    {"country": "Peru", "cities": ["Lima", "Cusco"], "label": 0},
    {"country": "Kenya", "cities": ["Nairobi", "Mombasa"], "label": 0},
]
COMMON = """
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
doc_to_text: "Capital of {{{{country}}}}?"
"""
GENERATION = """
task: made_gen
output_type: generate_until
doc_to_target: "{{cities[label]}}"
generation_kwargs: {until: ["\\n"], do_sample: false}
repeats: 2
metric_list: [{metric: exact_match}]
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: "([0-9]+)"}, {function: take_first}]
  - name: loose
    filter: [{function: take_first}]
"""
CHOICE = """
task: made_mc
output_type: multiple_choice
doc_to_choice: "{{cities}}"
doc_to_target: label
metric_list: [{metric: acc}, {metric: acc_mutual_info}]
"""


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of the tool, with a model that answers the same."""
    folder = tmp_path_factory.mktemp("run")
    data = folder / "data.json"
    data.write_text(json.dumps(DATA))
    tasks = folder / "tasks"
    tasks.mkdir()
    for name, text in (("gen", GENERATION), ("mc", CHOICE)):
        (tasks / f"{name}.yaml").write_text(COMMON.format(data=data) + text)
    command = (
        *(PYTHON, "-m", "lm_eval", "--model", "dummy", "--tasks", "made_gen,made_mc"),
        *("--include_path", str(tasks), "--log_samples"),
        *("--output_path", str(folder / "out"), "--batch_size", "1"),
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
    done = subprocess.run(  # noqa: S603 - the command is ours
        command, env=environment, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    (results,) = (folder / "out").rglob("results_*.json")
    return results.parent


def records_of(folder: Path, task: str) -> list[Record]:
    """Return the records of the samples of a task."""
    (path,) = folder.glob(f"samples_{task}_*.jsonl")
    return list(read(path))


needs_tool = pytest.mark.skipif(
    not PYTHON, reason="set HARPIA_LM_EVAL to a Python with lm-eval"
)


@needs_tool
@pytest.mark.parametrize("task", ["made_gen", "made_mc"])
def test_stored_scores_of_the_tool(results_folder: Path, task: str) -> None:
    """The mean of stored scores is what the results say, for each filter."""
    (results,) = results_folder.glob("results_*.json")
    reported = json.loads(results.read_text())["results"][task]
    expected = {
        key.removesuffix(",none").replace(",", "|filter:"): value
        for key, value in reported.items()
        if "," in key and "_stderr" not in key
    }
    (path,) = results_folder.glob(f"samples_{task}_*.jsonl")
    found = {each.name: each.value for each in score(path, stored=True)}

    assert found == pytest.approx(expected)


@needs_tool
def test_run_of_the_tool(results_folder: Path) -> None:
    """Samples and results of a run are valid, belong together, and are records."""
    report = validate(results_folder, select=["J", "S", "V", "A1", "A2"])
    generated, chosen = (
        records_of(results_folder, f"made_{kind}") for kind in ("gen", "mc")
    )
    answers = [[output.text for output in record.outputs] for record in generated]
    scores: Any = chosen[0].outputs[0].scores

    assert report.problems == ()
    assert [record.id for record in generated] == [0, 1, 2, 0, 1, 2]
    assert answers == [["lol", "lol"]] * len(generated)
    assert [record.choices for record in chosen] == [each["cities"] for each in DATA]
    assert [record.references for record in chosen] == [
        ["Paris"],
        ["Lima"],
        ["Nairobi"],
    ]
    assert {score.metric for score in scores} == {"acc", "acc_mutual_info"}
