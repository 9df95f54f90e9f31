"""The GitLab template: its inputs, and its script as a runner runs it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "integrations" / "gitlab" / "harpia-formats.yml"
SPEC, CONFIGURATION = yaml.safe_load_all(TEMPLATE.read_text(encoding="utf-8"))
INPUTS: dict[str, dict[str, Any]] = SPEC["spec"]["inputs"]
(JOB,) = CONFIGURATION.values()
ANSWERS = ROOT / "fixtures" / "nemo-output" / "valid" / "answers.jsonl"
BAD_LINE = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'
#: A name that would be commands to a shell.
HOSTILE = "a $(touch hacked); `touch hacked` \"'\\n .jsonl"
_input = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the working folder of a job, with good and bad data."""
    found = tmp_path / "project"
    (found / "eval data").mkdir(parents=True)
    shutil.copy(ANSWERS, found / "eval data" / "good one.jsonl")
    (found / HOSTILE).write_bytes(ANSWERS.read_bytes() + BAD_LINE)
    return found


def run(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Run the script of the job; return exit code, output, and what it installs."""
    given = {name: one.get("default", "") for name, one in INPUTS.items()} | inputs
    variables = {
        name: _input.sub(lambda found: given[found[1]], value["value"])
        for name, value in JOB["variables"].items()
    }
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    log = folder.parent / "installed"
    put(programs / "python", f'printf "%s\\n" "$@" | tail -n 1 > "{log}"')
    put(programs / "harpia-formats", f'exec "{sys.executable}" -m harpia_formats "$@"')
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - the script is ours
        ["/bin/sh", "-c", "\n".join(JOB["script"])],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    return done.returncode, done.stdout + done.stderr, log.read_text().strip()


def put(path: Path, command: str) -> None:
    """Write a program of one command."""
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def test_inputs_are_values_that_nothing_expands() -> None:
    """Each input that the script needs is a variable, and stands in no command."""
    values = "\n".join(value["value"] for value in JOB["variables"].values())
    used = set(_input.findall(values))

    assert used == {"paths", "args", "format", "version", "extras"}
    assert all(value["expand"] is False for value in JOB["variables"].values())
    assert _input.search("\n".join(JOB["script"])) is None


def test_good_data_passes_and_leaves_reports(folder: Path) -> None:
    """The job succeeds with the reports that its artifacts name."""
    code, output, installed = run(folder, paths="eval data\n", version="0.1.0")
    reports = JOB["artifacts"]["reports"]

    assert (code, installed) == (0, "harpia-formats[report,zstd]==0.1.0"), output
    assert json.loads((folder / reports["codequality"]).read_bytes()) == []
    assert ET.parse(folder / reports["junit"]).getroot().tag == "testsuites"  # noqa: S314 - we wrote it
    assert all((folder / name).is_file() for name in JOB["artifacts"]["paths"])


def test_bad_data_fails_with_its_findings(folder: Path) -> None:
    """The job fails, code quality has each finding, and names are no commands."""
    args = "--examples=3\n\n--exclude=no such file"
    inputs = {"paths": f"eval data\n{HOSTILE}", "format": "nemo-output", "args": args}
    code, output, installed = run(folder, **inputs, extras="arrow")
    findings = json.loads((folder / "gl-code-quality-report.json").read_bytes())

    assert (code, installed) == (1, "harpia-formats[arrow]")
    assert "--exclude 'no such file' matches no file" in output
    assert {one["location"]["lines"]["begin"] for one in findings} == {6}
    assert not (folder / "hacked").exists()
