"""The how-to for schedulers: what is retried, and its code in the real schedulers.

`HARPIA_AIRFLOW`, `HARPIA_PREFECT` and `HARPIA_DAGSTER` are each the Python of an
environment that has the scheduler and harpia-formats. Prefect 3.8 needs fastapi<0.116.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harpia_formats

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "orchestrators.md").read_text(encoding="utf-8")
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
BAD_LINE = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'
BLOCKS = re.findall(r"^```python[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: Runs the pipeline of each scheduler with data that is good, bad and missing, and
#: prints how often the check ran and what came of it.
DRIVERS = {
    "airflow": """
from data_pipeline import check, evaluation_dag
import data_pipeline
from airflow.sdk.exceptions import AirflowFailException
assert evaluation_dag.task_dict["check"].retries == 3
for name in ("good.jsonl", "bad.jsonl", "none.jsonl"):
    try:
        print(name, check.function(name, "report.json")["records"])
    except AirflowFailException as error:
        print(name, "failed for good")
    except OSError as error:
        print(name, "may be retried")
""",
    "prefect": """
import data_pipeline
tries = []
real = data_pipeline.checked
data_pipeline.checked = lambda *given: (tries.append(1), real(*given))[1]
data_pipeline.check.retry_delay_seconds = 0
for name in ("good.jsonl", "bad.jsonl", "none.jsonl"):
    tries.clear()
    state = data_pipeline.evaluation(name, "report.json", return_state=True)
    print(name, state.type.value, len(tries))
""",
    "dagster": """
import os
import dagster as dg
import data_pipeline
tries = []
real = data_pipeline.checked
data_pipeline.again = None
object.__setattr__(data_pipeline.check, "_retry_policy", dg.RetryPolicy(max_retries=3))
for name in ("good.jsonl", "bad.jsonl", "none.jsonl"):
    tries.clear()
    data_pipeline.checked = lambda _, report: (tries.append(1), real(name, report))[1]
    done = data_pipeline.evaluation.execute_in_process(raise_on_error=False)
    print(name, done.success, len(tries))
""",
}
EXPECTED = {
    "airflow": ["5", "failed for good", "may be retried"],
    "prefect": ["COMPLETED 1", "FAILED 1", "FAILED 4"],
    "dagster": ["True 1", "False 1", "False 4"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with data and the function of the page."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ANSWERS, tmp_path / "good.jsonl")
    (tmp_path / "bad.jsonl").write_bytes(ANSWERS.read_bytes() + BAD_LINE)
    (tmp_path / "data_checks.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


@pytest.fixture
def names(folder: Path) -> dict[str, Any]:
    """Return what the function's module defines."""
    found: dict[str, Any] = {"__name__": "data_checks"}
    source = (folder / "data_checks.py").read_text(encoding="utf-8")
    exec(compile(source, "data_checks.py", "exec"), found)  # noqa: S102 - our own page
    return found


def test_good_data_is_counted(names: dict[str, Any], folder: Path) -> None:
    """The step returns the counts, and leaves the report."""
    checked: Callable[..., dict[str, int]] = names["checked"]

    assert checked("good.jsonl", "report.json")["records"] == 5
    assert (folder / "report.json").is_file()


def test_bad_data_is_not_retried(names: dict[str, Any], folder: Path) -> None:
    """The exception is one that no retry can mend, and the report is written."""
    with pytest.raises(names["BadData"], match=r"bad\.jsonl:6:1"):
        names["checked"]("bad.jsonl", "report.json", format="nemo-output")

    assert (folder / "report.json").is_file()


@pytest.mark.parametrize(
    "arguments", [("none.jsonl", "report.json"), ("good.jsonl", "none/report.json")]
)
def test_what_cannot_be_read_or_written_may_pass(
    names: dict[str, Any], arguments: tuple[str, str]
) -> None:
    """A file that is not there is an `OSError`, and so is an output."""
    with pytest.raises(OSError, match=r"none"):
        names["checked"](*arguments)


def test_wrong_calls_are_neither(names: dict[str, Any], folder: Path) -> None:
    """An unknown format is an error of the caller."""
    with pytest.raises(harpia_formats.UnknownFormat):
        names["checked"](str(folder / "good.jsonl"), "report.json", format="nemmo")


@pytest.mark.tools
@pytest.mark.parametrize("scheduler", DRIVERS)
def test_schedulers_retry_what_may_pass(scheduler: str, folder: Path) -> None:
    """The code of the page runs once for bad data, and again for a missing file."""
    python = os.environ.get(f"HARPIA_{scheduler.upper()}", "")
    if not python:
        pytest.skip(f"HARPIA_{scheduler.upper()} names no Python with {scheduler}")
    (code,) = [block for block in BLOCKS if f"{scheduler}" in block]
    (folder / "data_pipeline.py").write_text(code, encoding="utf-8")
    (folder / "driver.py").write_text(DRIVERS[scheduler], encoding="utf-8")
    homes = {f"{scheduler.upper()}_HOME": str(folder / "home"), "DO_NOT_TRACK": "1"}
    done = subprocess.run(  # noqa: S603 - the programs are ours
        [python, "driver.py"],
        cwd=folder,
        env={**os.environ, **homes},
        capture_output=True,
        check=False,
        text=True,
    )
    lines = [
        line.partition(" ")[2]
        for line in done.stdout.splitlines()
        if line.startswith(("good.jsonl ", "bad.jsonl ", "none.jsonl "))
    ]

    assert lines == EXPECTED[scheduler], done.stdout + done.stderr
